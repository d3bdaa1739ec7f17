package diff

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/golden"
)

// TestGolden compares the directories a and b of each archive, in both
// directions.
func TestGolden(t *testing.T) {
	golden.Each(t, "testdata/*.txtar", func(t *testing.T, archive *golden.Archive) {
		sides := map[string]fstest.MapFS{"a": {}, "b": {}}
		var inputs []txtar.File
		for _, f := range archive.Files {
			if side, rest, ok := strings.Cut(f.Name, "/"); ok {
				sides[side][rest] = &fstest.MapFile{Data: f.Data}
				inputs = append(inputs, f)
			}
		}
		a, b := load(t, sides["a"]), load(t, sides["b"])
		archive.Compare(t, append(inputs, txtar.File{Name: "forward", Data: text(t, a, b)}, txtar.File{Name: "backward", Data: text(t, b, a)},
			txtar.File{Name: "json", Data: asJSON(t, a, b)}))
	})
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
