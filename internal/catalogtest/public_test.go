package catalogtest

import (
	"bytes"
	"path"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
)

// publicPackages calls use with each package of the public catalog.
func publicPackages(t testing.TB, use func(name string, c *catalog.Catalog)) {
	t.Helper()
	publicdata.Each(t, publicdata.FullCatalog, func(name string, content func() []byte) {
		c, err := catalog.LoadFile(t.Context(), name, bytes.NewReader(content()), catalog.LoadOptions{})
		must.NoError(t, err)
		use(path.Base(path.Dir(name)), c)
	})
}

// TestPublicWalks walks every package of the public catalog.
func TestPublicWalks(t *testing.T) {
	walks, edges, most := 0, 0, 0
	largest := ""
	publicPackages(t, func(name string, c *catalog.Catalog) {
		for _, semantics := range []graph.Semantics{graph.V0, graph.V1} {
			u := must.Value(graph.UpgradesOf(c, name, semantics))(t)
			found := checkWalks(t, u, func(string) bool { return true })
			walks += len(found)
			edges += len(u.Hops)
			if len(u.Hops) > most {
				most, largest = len(u.Hops), name
			}
		}
	})
	t.Logf("%d walks for %d upgrades; the most upgrades, %d, has %s", walks, edges, most, largest)
	if walks < 500 || walks > edges {
		t.Errorf("%d walks for %d upgrades", walks, edges)
	}
}

// BenchmarkWalks finds the walks of the public package with the most upgrades, from the loaded catalog on.
func BenchmarkWalks(b *testing.B) {
	var largest *catalog.Catalog
	var of string
	hops := 0
	publicPackages(b, func(name string, c *catalog.Catalog) {
		if u := must.Value(graph.UpgradesOf(c, name, graph.V1))(b); len(u.Hops) > hops {
			largest, of, hops = c, name, len(u.Hops)
		}
	})
	b.Logf("package %s: %d upgrades", of, hops)
	walks := 0
	for b.Loop() {
		found, _ := Walks(must.Value(graph.UpgradesOf(largest, of, graph.V1))(b), nil)
		walks = len(found)
	}
	b.ReportMetric(float64(hops), "upgrades")
	b.ReportMetric(float64(walks), "walks")
}
