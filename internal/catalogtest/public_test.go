package catalogtest

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"
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

// publicBundles are those that can be loaded, by the name of their ClusterServiceVersion.
func publicBundles(t *testing.T) map[string]*bundle.Bundle {
	t.Helper()
	bundles := map[string]*bundle.Bundle{}
	for _, tree := range publicdata.BundleTrees(t) {
		if b, err := bundle.Load(tree); err == nil {
			bundles[b.Package+"/"+b.Name] = b
		}
	}
	return bundles
}

// TestPublicFindings checks every upgrade of the public catalog between bundles whose content is there, and demands the findings that were judged to be true,
// and no other. testdata has the upgrades, with rule and object.
func TestPublicFindings(t *testing.T) {
	sweep.Nightly(t, "TestSeededFaults")
	bundles := publicBundles(t)
	all := &catalog.Catalog{}
	publicPackages(t, func(_ string, c *catalog.Catalog) {
		all.Packages, all.Channels = append(all.Packages, c.Packages...), append(all.Channels, c.Channels...)
		all.Bundles, all.Deprecations = append(all.Bundles, c.Bundles...), append(all.Deprecations, c.Deprecations...)
	})
	checker := NewChecker(all, must.Value(catalog.NewIndex(all, "sha256:0"))(t))
	edges := 0
	var found []string
	for _, pkg := range graph.Packages(all) {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(bundles)), func(b string) bool { return strings.HasPrefix(b, pkg+"/") }) {
			continue
		}
		for _, api := range []API{V0, V1} {
			for _, r := range checker.Package(pkg, api) {
				found = append(found, fmt.Sprintf("%s %s %s", api, r.Edge, r.Findings[0].Rule))
			}
			walks, _ := Walks(must.Value(graph.UpgradesOf(all, pkg, graph.Semantics(api)))(t), func(b string) bool { return bundles[pkg+"/"+b] != nil })
			seen := map[string]bool{}
			for _, w := range walks {
				for _, e := range w.Edges {
					if seen[e.String()] {
						continue
					}
					seen[e.String()] = true
					edges++
					for _, f := range must.Value(checker.Edge(t.Context(), api, e, bundles[pkg+"/"+e.From], bundles[pkg+"/"+e.To]))(t) {
						found = append(found, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", api, e, f.Rule, f.Object)))
						t.Logf("%s %s: %s: %s", api, e, f.Rule, f)
					}
				}
			}
		}
	}
	t.Logf("%d edges, %d findings", edges, len(found))
	slices.Sort(found)
	golden.Read(t, "testdata/public.txtar").Compare(t, []txtar.File{{Name: "findings", Data: []byte(strings.Join(found, "\n") + "\n")}})
}
