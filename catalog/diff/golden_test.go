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
	"fairlead.dev/fairlead/test/must"
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
	c := must.Value(catalog.Load(context.Background(), fsys, catalog.LoadOptions{}))(t)
	return c
}

func compare(t testing.TB, a, b *catalog.Catalog) *Report {
	t.Helper()
	r := must.Value(Compare(a, b))(t)
	return r
}

func text(t testing.TB, a, b *catalog.Catalog) []byte {
	t.Helper()
	var out bytes.Buffer
	must.NoError(t, compare(t, a, b).Write(&out))
	return out.Bytes()
}

func asJSON(t testing.TB, a, b *catalog.Catalog) []byte {
	t.Helper()
	out := must.Value(json.MarshalIndent(compare(t, a, b), "", "  "))(t)
	return append(out, '\n')
}
