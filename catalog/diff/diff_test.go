package diff

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// TestLaws holds for any two catalogs: a report is empty if and only if they
// are equal, order does not matter, and backward is the reverse of forward.
func TestLaws(t *testing.T) {
	// The catalogs of all archives.
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no archives in testdata (%v)", err)
	}
	var all []*catalog.Catalog
	for _, name := range archives {
		archive := must.Value(txtar.ParseFile(name))(t)
		for _, f := range archive.Files {
			if strings.Contains(f.Name, "/") {
				all = append(all, load(t, fstest.MapFS{f.Name: &fstest.MapFile{Data: f.Data}}))
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for i, a := range all {
		if report := compare(t, a, shuffled(r, a)); !report.Empty() {
			t.Errorf("catalog %d differs from itself in another order: %+v", i, report)
		}
		for j, b := range all {
			forward, backward := compare(t, a, b), compare(t, b, a)
			if got, want := forward.Empty(), content(t, a) == content(t, b); got != want {
				t.Errorf("%d and %d: empty %v, want %v", i, j, got, want)
			}
			if diff := cmp.Diff(changes(forward, false), changes(backward, true)); diff != "" {
				t.Errorf("%d and %d: backward is not the reverse:\n%s", i, j, diff)
			}
			if again := compare(t, shuffled(r, a), shuffled(r, b)); !cmp.Equal(forward, again) {
				t.Errorf("%d and %d: another order gives another report:\n%s", i, j, cmp.Diff(forward, again))
			}
		}
	}
}

// changes are those of a report, sorted, perhaps as if they were undone.
func changes(r *Report, undo bool) []string {
	var all []string
	add := func(of string, c Change) {
		c.Fields = slices.Clone(c.Fields)
		if undo {
			c.Op = map[Op]Op{Added: Removed, Removed: Added, Changed: Changed}[c.Op]
			for i, f := range c.Fields {
				c.Fields[i] = Field{f.Name, f.To, f.From}
			}
		}
		slices.SortFunc(c.Fields, func(a, b Field) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		all = append(all, fmt.Sprintf("%s: %+v", of, c))
	}
	for _, p := range r.Packages {
		for _, c := range p.Changes {
			add(p.Name, c)
		}
	}
	for _, c := range r.Objects {
		add("", c)
	}
	slices.Sort(all)
	return all
}

// shuffled is the catalog in another order.
func shuffled(r *rand.Rand, c *catalog.Catalog) *catalog.Catalog {
	out := &catalog.Catalog{
		Packages: slices.Clone(c.Packages), Channels: slices.Clone(c.Channels), Bundles: slices.Clone(c.Bundles),
		Deprecations: slices.Clone(c.Deprecations), Others: slices.Clone(c.Others),
	}
	shuffle(r, out.Packages)
	shuffle(r, out.Channels)
	shuffle(r, out.Bundles)
	for i := range out.Channels {
		out.Channels[i].Entries = slices.Clone(out.Channels[i].Entries)
		shuffle(r, out.Channels[i].Entries)
	}
	for i := range out.Bundles {
		out.Bundles[i].Properties = slices.Clone(out.Bundles[i].Properties)
		shuffle(r, out.Bundles[i].Properties)
		out.Bundles[i].RelatedImages = slices.Clone(out.Bundles[i].RelatedImages)
		shuffle(r, out.Bundles[i].RelatedImages)
	}
	return out
}

func shuffle[T any](r *rand.Rand, all []T) {
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
}

// content is what a catalog says, whatever its order.
func content(t testing.TB, c *catalog.Catalog) string {
	t.Helper()
	var out bytes.Buffer
	must.NoError(t, catalog.WriteJSON(&out, c))
	var lines []string
	decoder := json.NewDecoder(&out)
	decoder.UseNumber()
	for decoder.More() {
		var object map[string]any
		must.NoError(t, decoder.Decode(&object))
		for _, value := range object {
			sortLists(value)
		}
		lines = append(lines, fmt.Sprint(object))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func sortLists(value any) {
	if list, ok := value.([]any); ok {
		for _, item := range list {
			if object, ok := item.(map[string]any); ok {
				sortLists(object["skips"])
			}
		}
		slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}

// TestDuplicates: what is there more than once is counted.
func TestDuplicates(t *testing.T) {
	one := &catalog.Catalog{Bundles: []catalog.Bundle{{Package: "p", Name: "b", Image: "i"}}}
	two := &catalog.Catalog{Bundles: []catalog.Bundle{{Package: "p", Name: "b", Image: "i"}, {Package: "p", Name: "b", Image: "j"}}}
	want := []Change{{Op: Added, Kind: KindBundle, Name: "b"}}
	must.Equal(t, "changes", compare(t, one, two).Packages[0].Changes, want)
}

func TestCompareFails(t *testing.T) {
	bundle := func(value string) *catalog.Catalog {
		return &catalog.Catalog{Bundles: []catalog.Bundle{{Package: "p", Name: "b", Properties: []catalog.Property{{Type: "t", Value: []byte(value)}}}}}
	}
	_, err := Compare(bundle("1"), bundle("{"))
	must.Fail(t, "Compare", err, `compare catalogs: package "p": properties: [0]: value: this is not JSON`)
	other := func(blob string) *catalog.Catalog {
		return &catalog.Catalog{Others: []catalog.Meta{{Schema: "s", Blob: []byte(blob)}}}
	}
	_, err = Compare(other("{}"), other("[]"))
	must.Fail(t, "Compare", err, `object "s"`)
	if _, err := Compare(nil, other("{}")); err == nil {
		t.Error("nothing was compared with something")
	}
}

// TestWriteIsSafe: names in a catalog cannot steer a terminal.
func TestWriteIsSafe(t *testing.T) {
	evil := "b\x1b[2J\n+ package other\u0085\u2028"
	c := &catalog.Catalog{Bundles: []catalog.Bundle{{Package: "p", Name: evil}}}
	got := string(text(t, &catalog.Catalog{}, c))
	if strings.ContainsAny(got, "\x1b\u0085\u2028") || strings.Count(got, "\n") != 3 {
		t.Errorf("written as %q", got)
	}
}

// TestRealCatalog takes away, adds and changes things of a public catalog.
func TestRealCatalog(t *testing.T) {
	dir := t.TempDir()
	publicdata.Each(t, publicdata.OwnCatalog, func(name string, content func() []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, content(), 0o644))
	})
	c := must.Value(catalog.Load(context.Background(), os.DirFS(dir), catalog.LoadOptions{}))(t)
	r := rand.New(rand.NewPCG(3, 3))
	if report := compare(t, c, shuffled(r, c)); !report.Empty() {
		t.Errorf("the catalog differs from itself: %+v", report)
	}
	for range 3 {
		less := shuffled(r, c)
		gone := less.Bundles[0]
		less.Bundles = less.Bundles[1:]
		report := compare(t, c, less)
		want := []Change{{Op: Removed, Kind: KindBundle, Name: gone.Name}}
		if len(report.Packages) != 1 || report.Packages[0].Name != gone.Package || !cmp.Equal(report.Packages[0].Changes, want) {
			t.Errorf("without %s: %+v", gone.Name, report)
		}
		if back := compare(t, less, c); back.Packages[0].Changes[0].Op != Added {
			t.Errorf("with %s again: %+v", gone.Name, back)
		}
	}
}

// TestManyRangesAreBounded has a channel in which no range covers any version.
func TestManyRangesAreBounded(t *testing.T) {
	const n = 8000
	a, b := &catalog.Catalog{}, &catalog.Catalog{}
	for i, c := range []*catalog.Catalog{a, b} {
		c.Packages = append(c.Packages, catalog.Package{Name: "p", DefaultChannel: "c"})
		ch := catalog.Channel{Package: "p", Name: "c"}
		for k := range n {
			e := catalog.Entry{Name: fmt.Sprint("p.v1.", k, ".0"), SkipRange: fmt.Sprintf(">=2.%d.0", k)}
			if k > 0 {
				e.Replaces = fmt.Sprint("p.v1.", k-1, ".0")
			}
			if i == 1 {
				e.Name, e.Replaces = strings.Replace(e.Name, "v1", "v3", 1), strings.Replace(e.Replaces, "v1", "v3", 1)
			}
			ch.Entries = append(ch.Entries, e)
			value := fmt.Sprintf(`{"packageName":"p","version":"1.%d.0"}`, k)
			c.Bundles = append(c.Bundles, catalog.Bundle{Package: "p", Name: e.Name, Image: "i", Properties: []catalog.Property{{Type: catalog.PropertyPackage, Value: []byte(value)}}})
		}
		c.Channels = append(c.Channels, ch)
	}
	start := time.Now()
	report := compare(t, a, b)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	if !slices.ContainsFunc(report.Packages[0].Consequences, func(c Consequence) bool { return strings.Contains(c.Message, "too many skipRanges") }) {
		t.Error("it is not said that not all was judged")
	}
}
