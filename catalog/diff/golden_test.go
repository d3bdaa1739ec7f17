package diff

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"fairlead.dev/fairlead/catalog"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares the directories a and b of each archive, in both
// directions.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in testdata (%v)", err)
	}
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			sides := map[string]fstest.MapFS{"a": {}, "b": {}}
			var inputs, want []txtar.File
			for _, f := range archive.Files {
				if side, rest, ok := strings.Cut(f.Name, "/"); ok {
					sides[side][rest] = &fstest.MapFile{Data: f.Data}
					inputs = append(inputs, f)
				} else {
					want = append(want, f)
				}
			}
			a, b := load(t, sides["a"]), load(t, sides["b"])
			got := []txtar.File{
				{Name: "forward", Data: text(t, a, b)}, {Name: "backward", Data: text(t, b, a)}, {Name: "json", Data: asJSON(t, a, b)},
			}
			if *update {
				archive.Files = append(inputs, got...)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
		})
	}
}

func load(t testing.TB, fsys fstest.MapFS) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(context.Background(), fsys, catalog.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compare(t testing.TB, a, b *catalog.Catalog) *Report {
	t.Helper()
	r, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t testing.TB, a, b *catalog.Catalog) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := compare(t, a, b).Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asJSON(t testing.TB, a, b *catalog.Catalog) []byte {
	t.Helper()
	out, err := json.MarshalIndent(compare(t, a, b), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}
