package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
)

// TestMerge merges the directories of each archive, once without and once with
// each preference.
func TestMerge(t *testing.T) {
	golden.Each(t, "testdata/*.txtar", func(t *testing.T, archive *golden.Archive) {
		files := archive.Without("want")
		// Read each top directory as a source.
		trees := map[string]fstest.MapFS{}
		var names []string
		for _, f := range files {
			dir, rest, _ := strings.Cut(f.Name, "/")
			if trees[dir] == nil {
				trees[dir] = fstest.MapFS{}
				names = append(names, dir)
			}
			trees[dir][rest] = &fstest.MapFile{Data: f.Data}
		}
		var sources []Source
		for _, name := range names {
			c := must.Value(catalog.Load(context.Background(), trees[name], catalog.LoadOptions{}))(t)
			sources = append(sources, Source{name, c})
		}
		for _, prefer := range []Prefer{PreferNone, PreferFirst, PreferLast} {
			files = append(files, txtar.File{Name: strings.TrimSuffix("want "+string(prefer), " "), Data: outcome(t, sources, prefer)})
		}
		archive.Compare(t, files)
	})
}

// outcome is the result of a merge as text.
func outcome(t *testing.T, sources []Source, prefer Prefer) []byte {
	t.Helper()
	merged, report, err := Merge(sources, Options{Prefer: prefer})
	if err != nil {
		return []byte("error: " + err.Error() + "\n")
	}
	var out bytes.Buffer
	must.NoError(t, report.Write(&out))
	for _, p := range merged.LoadProblems {
		fmt.Fprintln(&out, p)
	}
	must.NoError(t, catalog.WriteYAML(&out, merged))
	return out.Bytes()
}

func TestMergeRefuses(t *testing.T) {
	_, _, err := Merge(nil, Options{Prefer: "best"})
	must.Fail(t, "Merge", err, `no preference "best"; choose first or last`)
	broken := func(value string) Source {
		b := catalog.Bundle{Name: "b", Properties: []catalog.Property{{Type: "x", Value: []byte(value)}}}
		return Source{value, &catalog.Catalog{Bundles: []catalog.Bundle{b}}}
	}
	for _, prefer := range []Prefer{PreferNone, PreferFirst} {
		if _, _, err := Merge([]Source{broken("{"), broken("1")}, Options{Prefer: prefer}); err == nil || !strings.Contains(err.Error(), `compare bundle "b" at {`) {
			t.Errorf("a property that is not JSON: %v", err)
		}
	}
	var conflict *ConflictError
	if _, _, err := Merge([]Source{broken("1"), broken("2")}, Options{Prefer: PreferLast}); !errors.As(err, &conflict) {
		t.Errorf("objects without a package: %v, want a conflict", err)
	}
	var many catalog.Catalog
	for i := range 30 {
		for _, channel := range []string{"a", "b"} {
			many.Packages = append(many.Packages, catalog.Package{Name: fmt.Sprintf("p%02d", i), DefaultChannel: channel})
		}
	}
	_, _, err = Merge([]Source{{"m", &many}}, Options{})
	must.Fail(t, "Merge", err, "and 10 more")
}

// TestMergeOfParts cuts catalogs into sources at random, with repetitions, and
// expects the catalog again.
func TestMergeOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		var whole catalog.Catalog
		parts := make([]Source, 1+random.IntN(4))
		for i := range parts {
			parts[i] = Source{fmt.Sprint("s", i), &catalog.Catalog{}}
		}
		give := func(take func(c *catalog.Catalog)) {
			take(&whole)
			take(parts[random.IntN(len(parts))].Catalog)
			if random.IntN(3) == 0 {
				take(parts[random.IntN(len(parts))].Catalog)
			}
		}
		for i := range random.IntN(10) {
			name := fmt.Sprint("p", i%4)
			switch {
			case i < 4:
				give(func(c *catalog.Catalog) { c.Packages = append(c.Packages, catalog.Package{Name: name}) })
			case i < 6:
				give(func(c *catalog.Catalog) {
					c.Channels = append(c.Channels, catalog.Channel{Package: name, Name: "c", Entries: []catalog.Entry{{Name: "e"}}})
				})
			case i < 8:
				give(func(c *catalog.Catalog) { c.Deprecations = append(c.Deprecations, catalog.Deprecations{Package: name}) })
			default:
				give(func(c *catalog.Catalog) {
					c.Bundles = append(c.Bundles, catalog.Bundle{Package: name, Name: "b", Image: "i"})
				})
				give(func(c *catalog.Catalog) {
					c.Others = append(c.Others, catalog.Meta{Schema: name, Blob: []byte(`{"schema":"` + name + `"}`)})
				})
			}
		}
		for _, prefer := range []Prefer{PreferNone, PreferFirst, PreferLast} {
			before := lines(t, &whole)
			merged, report, err := Merge(parts, Options{Prefer: prefer})
			must.NoError(t, err)
			if len(report.Decided) > 0 {
				t.Errorf("decided %v without a conflict", report.Decided)
			}
			if diff := cmp.Diff(before, lines(t, merged)); diff != "" {
				t.Fatalf("merged (-want +got):\n%s", diff)
			}
		}
	}
}

// lines are the objects of a catalog, sorted.
func lines(t *testing.T, c *catalog.Catalog) []string {
	t.Helper()
	var out bytes.Buffer
	must.NoError(t, catalog.WriteYAML(&out, c))
	all := strings.Split(out.String(), "---\n")
	slices.Sort(all)
	return all
}
