package graph

import (
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// genes are read to make a catalog; after their end they are 0.
type genes []byte

func (g *genes) next(n int) int {
	if len(*g) == 0 {
		return 0
	}
	b := (*g)[0]
	*g = (*g)[1:]
	return int(b) % n
}

var (
	someVersions = []string{"1.0.0", "1.0.1", "1.1.0", "1.1.0-rc.1", "1.1.0+1", "1.1.0+2", "2.0.0", "2.1.0"}
	someRanges   = []string{"", "", "", "", "<1.1.0", ">=1.0.0 <2.0.0", ">=1.1.0", "1.0.x || >=2.x", "!1.0.1", "nonsense"}
)

// randomCatalog is a package "p" that may be wrong in any way a graph can be.
func randomCatalog(g *genes) *catalog.Catalog {
	c := &catalog.Catalog{Packages: []catalog.Package{{Schema: catalog.SchemaPackage, Name: "p", DefaultChannel: "a"}}}
	names := []string{"p.v0.9.0"} // never a bundle
	deprecations := catalog.Deprecations{Schema: catalog.SchemaDeprecations, Package: "p"}
	for _, v := range someVersions[:2+g.next(len(someVersions)-1)] {
		name := "p.v" + v
		names = append(names, name)
		if g.next(8) == 7 {
			continue // no bundle
		}
		b := catalog.Bundle{Schema: catalog.SchemaBundle, Package: "p", Name: name, Image: "registry.example.com/p:1", Properties: []catalog.Property{{
			Type: catalog.PropertyPackage, Value: json.RawMessage(fmt.Sprintf(`{"packageName":"p","version":%q}`, v)),
		}}}
		switch g.next(12) {
		case 10:
			b.Properties = append(b.Properties, catalog.Property{Type: catalog.PropertyDeprecated, Value: json.RawMessage(`{}`)})
		case 11:
			deprecations.Entries = append(deprecations.Entries, catalog.Deprecation{Reference: catalog.Reference{Schema: catalog.SchemaBundle, Name: name}, Message: "old"})
		}
		c.Bundles = append(c.Bundles, b)
	}
	c.Deprecations = append(c.Deprecations, deprecations)
	for _, name := range []string{"b", "a", "c"}[:1+g.next(3)] {
		c.Channels = append(c.Channels, randomChannel(g, name, names))
	}
	return c
}

func randomChannel(g *genes, name string, names []string) catalog.Channel {
	c := catalog.Channel{Schema: catalog.SchemaChannel, Package: "p", Name: name}
	for i, n := range names[1:] {
		if g.next(6) == 5 {
			continue
		}
		e := catalog.Entry{Name: n, SkipRange: someRanges[g.next(len(someRanges))]}
		switch how := g.next(8); how {
		case 0:
		case 1:
			e.Replaces = names[g.next(len(names))]
		default:
			e.Replaces = names[i] // the one before, as is usual
		}
		for range g.next(4) {
			e.Skips = append(e.Skips, names[g.next(len(names))])
		}
		c.Entries = append(c.Entries, e)
	}
	if g.next(20) == 19 && len(c.Entries) > 0 {
		c.Entries = append(c.Entries, c.Entries[0])
	}
	return c
}
