package bundleio

import (
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// TestMigratedAsPublished migrates the public bundles and compares each with what the public catalogs, which other tools rendered, say of
// the same bundle: the olm.csv.metadata is the same text.
func TestMigratedAsPublished(t *testing.T) {
	// The olm.csv.metadata that is made of each public bundle, by <package>/<name>.
	ours := map[string]string{}
	for name, tree := range publicdata.BundleTrees(t) {
		b, err := bundle.Load(tree)
		must.NoErrorf(t, err, "load bundle %s", name)
		converted, err := b.ToCatalogWithCSV("example.com/b:1")
		must.NoErrorf(t, err, "describe bundle %s", name)
		migrated, err := catalog.Migrate(&catalog.Catalog{Bundles: []catalog.Bundle{converted}}, catalog.MigrateAll)
		must.NoErrorf(t, err, "migrate bundle %s", name)
		ours[b.Package+"/"+b.Name] = metadataOf(t, migrated.Bundles[0])
	}
	packages := map[string]bool{}
	for key := range ours {
		packages[path.Dir(key)] = true
	}
	for archive, least := range map[string]int{publicdata.FullCatalog: 134, publicdata.OwnCatalog: 15} {
		t.Run(archive, func(t *testing.T) {
			compared := 0
			publicdata.Each(t, archive, func(name string, content func() []byte) {
				if !packages[path.Base(path.Dir(name))] {
					return
				}
				c, err := catalog.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: content()}}, catalog.LoadOptions{})
				must.NoErrorf(t, err, "load catalog %s", name)
				for _, b := range c.Bundles {
					published, got := metadataOf(t, b), ours[b.Package+"/"+b.Name]
					if published == "" || got == "" {
						continue
					}
					compared++
					if published != got {
						t.Errorf("bundle %s of %s is described differently (-published +ours):\n%.2000s", b.Name, name, cmp.Diff(lines(published), lines(got)))
					}
				}
			})
			if compared < least {
				t.Errorf("only %d bundles are in both; want %d", compared, least)
			}
		})
	}
}

// metadataOf is the olm.csv.metadata of a bundle as text; empty when there is none.
func metadataOf(t *testing.T, b catalog.Bundle) string {
	t.Helper()
	all, err := b.AllProperties()
	must.NoErrorf(t, err, "read the properties of bundle %s", b.Name)
	for _, p := range all {
		if p.Type == catalog.PropertyCSVMetadata {
			return string(p.Value)
		}
	}
	return ""
}

// lines cuts JSON text so that a difference is shown without all the rest.
func lines(text string) []string { return strings.SplitAfter(text, ",") }
