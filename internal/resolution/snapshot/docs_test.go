package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/must"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the decisions in docs/resolution.md anew")

const page = "../../../docs/resolution.md"

// TestExamplesOfThePage runs every example of the page: the files of its txtar blocks are objects, catalogs and the decision.
func TestExamplesOfThePage(t *testing.T) {
	text := must.Value(os.ReadFile(page))(t)
	const begin, end = "```txtar\n", "```\n"
	var out strings.Builder
	examples := 0
	for rest := string(text); rest != ""; {
		before, block, found := strings.Cut(rest, begin)
		out.WriteString(before)
		if !found {
			break
		}
		block, rest, found = strings.Cut(block, end)
		if !found {
			t.Fatalf("an example has no end:\n%s", block)
		}
		examples++
		// Return an example with the decision that comes out of it.
		a := txtar.Parse([]byte(block))
		n := Namespace{Name: "demo"}
		for i := range a.Files {
			switch f := &a.Files[i]; f.Name {
			case "objects.yaml":
				readObjects(t, &n, f.Data)
			case "decision":
				in, _ := n.Input()
				result := must.Value(resolution.Namespace(context.Background(), in))(t)
				f.Data = []byte(result.String())
			default:
				// Read a catalog from a file whose name is namespace/name.yaml.
				c, err := catalog.Load(context.Background(), fstest.MapFS{"catalog.yaml": {Data: f.Data}}, catalog.LoadOptions{})
				must.NoErrorf(t, err, "%s", f.Name)
				x, err := catalog.NewIndex(c, fmt.Sprintf("sha256:%x", sha256.Sum256(f.Data)))
				if err != nil || len(x.Problems()) > 0 {
					t.Fatalf("%s: %v %v", f.Name, err, x.Problems())
				}
				var s Source
				s.Object.Namespace, s.Object.Name, _ = strings.Cut(strings.TrimSuffix(f.Name, ".yaml"), "/")
				s.Served = catalogstore.Entry{Index: x}
				n.Sources = append(n.Sources, s)
			}
		}
		out.WriteString(begin + string(txtar.Format(a)) + end)
	}
	if examples < 5 {
		t.Errorf("the page has %d examples", examples)
	}
	if *update {
		must.NoError(t, os.WriteFile(page, []byte(out.String()), 0o644))
	} else if diff := cmp.Diff(string(text), out.String()); diff != "" {
		t.Errorf("the page (-) and what comes out (+):\n%s", diff)
	}
}

func readObjects(t *testing.T, n *Namespace, data []byte) {
	t.Helper()
	read := func(document []byte, into any) {
		if err := yaml.UnmarshalStrict(document, into); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
	}
	for _, document := range bytes.Split(data, []byte("\n---\n")) {
		if bytes.Contains(document, []byte("kind: Subscription\n")) {
			var s v1alpha1.Subscription
			read(document, &s)
			n.Subscriptions = append(n.Subscriptions, s)
			continue
		}
		var c v1alpha1.ClusterServiceVersion
		read(document, &c)
		n.Operators = append(n.Operators, c)
	}
}
