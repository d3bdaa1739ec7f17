package resolution

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

var shuffles = flag.Int("shuffles", 500, "how many orders of the input are compared")

// extensionScenario is the file extension.yaml of an archive.
type extensionScenario struct {
	Package    string
	Version    string
	Channels   []string
	Selector   *metav1.LabelSelector
	Policy     UpgradePolicy
	Installed  *scenarioBundle
	Catalogs   []scenarioCatalog
	Others     []scenarioBundle
	Kubernetes string
	RequireAll bool
	Serial     bool // install again and again until nothing changes
}

type scenarioBundle struct {
	Extension, Package, Name, Version string
	Release                           *string
	Properties                        []catalog.Property
}

type scenarioCatalog struct {
	Name     string
	Labels   map[string]string
	Priority int
	Disabled bool
	File     string // in the archive; without one the catalog has no content
	Problem  string
}

func TestResolve(t *testing.T) {
	golden.Each(t, "testdata/extension/*.txtar", func(t *testing.T, archive *golden.Archive) {
		in, serial := scenarioExtension(t, archive.Archive)
		got := ""
		for round := 0; ; round++ {
			result, text, machine := decideExtension(t, in)
			got += text
			if !serial || result.Change == ChangeStay || result.Bundle == nil {
				archive.CompareNamed(t, map[string]string{"want": got, "want.json": machine})
				return
			}
			if round > 20 {
				t.Fatalf("it never comes to rest:\n%s", got)
			}
			in.Installed = &Installed{Name: result.Bundle.Name, Version: result.Bundle.Version}
		}
	})
}

// decideExtension resolves, and checks what holds for every decision: the order of the input decides nothing, and the record leads to it again.
func decideExtension(t *testing.T, in ExtensionRequest) (result *ExtensionResult, text, machine string) {
	t.Helper()
	result, err := Extension(t.Context(), in)
	text = tell(result, err)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		if again := tell(Extension(t.Context(), extensionShuffled(random, in))); again != text {
			t.Fatalf("the answer depends on the order of the input (-first +shuffled):\n%s", cmp.Diff(text, again))
		}
	}
	extensionCheckReplay(t, in, result, text)
	var conflict *Conflict
	if errors.As(err, &conflict) {
		checkConflict(t, conflict)
	}
	out := must.Value(json.MarshalIndent(map[string]any{"conflict": conflict, "held": result.Held, "candidates": result.Candidates, "outcome": result.Record.Outcome}, "", "  "))(t)
	return result, text, string(out) + "\n"
}

func tell(r *ExtensionResult, err error) string {
	var b strings.Builder
	switch {
	case err != nil:
		fmt.Fprintf(&b, "%s\n", err)
	case r.Bundle == nil:
		fmt.Fprintf(&b, "%s\n", r.Change)
	default:
		fmt.Fprintf(&b, "%s %s from catalog %s, %s\n", r.Change, r.Bundle.Name, r.Catalog, list("channel", r.Channels))
	}
	if h := r.Held; h != nil {
		fmt.Fprintf(&b, "  held: %s instead of %s of catalog %s: %s\n", h.Instead, h.Wanted, h.Catalog, h.Reason)
		if h.Advice != "" {
			fmt.Fprintf(&b, "    %s\n", h.Advice)
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	if d := r.Deprecation; d != nil && (d.Package != "" || d.Channels != nil || d.Installed != "" || d.Chosen != "") {
		text, _ := json.Marshal(d) // strings can always be written
		fmt.Fprintf(&b, "  deprecation: %s\n", text)
	}
	return b.String()
}

// checkConflict demands what everyone who reads conflicts relies on.
func checkConflict(t *testing.T, c *Conflict) {
	t.Helper()
	if lines := strings.Count(c.Error(), "\n") + 1; lines > 8 {
		t.Errorf("the conflict has %d lines:\n%s", lines, c)
	}
	if c.Advice == "" || c.Summary == "" || len(c.Chain) == 0 || c.Reason == "" {
		t.Errorf("the conflict lacks something: %+v", c)
	}
}

func extensionCheckReplay(t *testing.T, in ExtensionRequest, result *ExtensionResult, want string) {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	must.NoError(t, encoder.Encode(result.Record))
	var record ExtensionRecord
	must.NoError(t, json.Unmarshal(text.Bytes(), &record))
	again, err := record.Replay(t.Context(), func(name, digest string) (*catalog.Index, error) {
		for _, c := range in.Catalogs {
			if c.Name == name && c.digest() == digest {
				return c.Index, nil
			}
		}
		return nil, errors.New("no such catalog")
	})
	if again == nil {
		t.Fatal(err)
	}
	must.Equal(t, "the record leads elsewhere", tell(again, err), want)
	must.Equal(t, "the record of the replay is another one", again.Record, result.Record)
}

func extensionShuffled(random *rand.Rand, in ExtensionRequest) ExtensionRequest {
	in.Channels, in.Catalogs, in.Others = slices.Clone(in.Channels), slices.Clone(in.Catalogs), slices.Clone(in.Others)
	random.Shuffle(len(in.Channels), func(i, j int) { in.Channels[i], in.Channels[j] = in.Channels[j], in.Channels[i] })
	random.Shuffle(len(in.Catalogs), func(i, j int) { in.Catalogs[i], in.Catalogs[j] = in.Catalogs[j], in.Catalogs[i] })
	random.Shuffle(len(in.Others), func(i, j int) { in.Others[i], in.Others[j] = in.Others[j], in.Others[i] })
	return in
}

func scenarioExtension(t *testing.T, archive *txtar.Archive) (in ExtensionRequest, serial bool) {
	t.Helper()
	files := fstest.MapFS{}
	var s extensionScenario
	for _, f := range archive.Files {
		files[f.Name] = &fstest.MapFile{Data: f.Data}
		if f.Name == "extension.yaml" {
			must.NoError(t, yaml.UnmarshalStrict(f.Data, &s))
		}
	}
	in = ExtensionRequest{Name: "my", Package: s.Package, Version: s.Version, Channels: s.Channels, Selector: s.Selector, Policy: s.Policy, RequireAll: s.RequireAll}
	if s.Kubernetes != "" {
		in.Kubernetes = semver.MustParse(s.Kubernetes)
	}
	if s.Installed != nil {
		installed := s.Installed.installed(t)
		in.Installed = &installed
	}
	for _, o := range s.Others {
		in.Others = append(in.Others, InstalledExtension{Name: o.Extension, Package: o.Package, Installed: o.installed(t)})
	}
	for _, c := range s.Catalogs {
		in.Catalogs = append(in.Catalogs, Catalog{Name: c.Name, Labels: c.Labels, Priority: c.Priority, Disabled: c.Disabled, Problem: c.Problem, Index: index(t, files, c.File)})
	}
	return in, s.Serial
}

func (s scenarioBundle) installed(t *testing.T) Installed {
	t.Helper()
	i := must.Value(ParseInstalled(s.Name, s.Version, s.Release))(t)
	i.Properties = s.Properties
	return i
}

func index(t *testing.T, files fstest.MapFS, name string) *catalog.Index {
	t.Helper()
	if name == "" {
		return nil
	}
	c, err := catalog.Load(t.Context(), fstest.MapFS{name: files[name]}, catalog.LoadOptions{})
	if c == nil {
		t.Fatal(err)
	}
	x := must.Value(catalog.NewIndex(c, "sha256:"+name))(t)
	return x
}
