package bundleio

import (
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/publicdata"
)

// TestMigratedAsPublished migrates the public bundles and compares each with what the public catalogs, which other tools rendered, say of
// the same bundle: the olm.csv.metadata is the same text.
func TestMigratedAsPublished(t *testing.T) {
	ours := migratedMetadata(t)
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
				if err != nil {
					t.Fatalf("load catalog %s: %v", name, err)
				}
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

// migratedMetadata is the olm.csv.metadata that is made of each public bundle, by <package>/<name>.
func migratedMetadata(t *testing.T) map[string]string {
	t.Helper()
	ours := map[string]string{}
	for name, tree := range publicdata.BundleTrees(t) {
		b, err := bundle.Load(tree)
		if err != nil {
			t.Fatalf("load bundle %s: %v", name, err)
		}
		converted, err := b.ToCatalogWithCSV("example.com/b:1")
		if err != nil {
			t.Fatalf("describe bundle %s: %v", name, err)
		}
		migrated, err := catalog.Migrate(&catalog.Catalog{Bundles: []catalog.Bundle{converted}}, catalog.MigrateAll)
		if err != nil {
			t.Fatalf("migrate bundle %s: %v", name, err)
		}
		ours[b.Package+"/"+b.Name] = metadataOf(t, migrated.Bundles[0])
	}
	return ours
}

// metadataOf is the olm.csv.metadata of a bundle as text; empty when there is none.
func metadataOf(t *testing.T, b catalog.Bundle) string {
	t.Helper()
	all, err := b.AllProperties()
	if err != nil {
		t.Fatalf("read the properties of bundle %s: %v", b.Name, err)
	}
	for _, p := range all {
		if p.Type == catalog.PropertyCSVMetadata {
			return string(p.Value)
		}
	}
	return ""
}

// lines cuts JSON text so that a difference is shown without all the rest.
func lines(text string) []string { return strings.SplitAfter(text, ",") }
