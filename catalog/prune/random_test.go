package prune

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/version"
)

// randomCatalog makes packages with all sorts of channels that depend on each
// other. Most of it is valid.
func randomCatalog(r *rand.Rand) *catalog.Catalog {
	c := &catalog.Catalog{}
	for i := range 1 + r.IntN(4) {
		pkg := fmt.Sprint("p", i)
		n := 1 + r.IntN(8)
		p := catalog.Package{Schema: catalog.SchemaPackage, Name: pkg}
		listed := map[int]bool{}
		for j := range 1 + r.IntN(3) {
			ch := randomChannel(r, pkg, n)
			ch.Name = fmt.Sprint("c", j)
			for _, e := range ch.Entries {
				var k int
				if _, err := fmt.Sscanf(e.Name, pkg+".v1.%d.0", &k); err == nil {
					listed[k] = true
				}
			}
			p.DefaultChannel = ch.Name
			c.Channels = append(c.Channels, ch)
		}
		c.Packages = append(c.Packages, p)
		for k := range n {
			if listed[k] {
				c.Bundles = append(c.Bundles, randomBundle(r, pkg, k))
			}
		}
		if r.IntN(2) == 0 {
			d := catalog.Deprecations{Schema: catalog.SchemaDeprecations, Package: pkg}
			add := func(reference catalog.Reference) {
				if r.IntN(2) == 0 {
					d.Entries = append(d.Entries, catalog.Deprecation{Reference: reference, Message: "m"})
				}
			}
			add(catalog.Reference{Schema: catalog.SchemaPackage})
			add(catalog.Reference{Schema: catalog.SchemaChannel, Name: "c0"})
			for k := range 9 {
				if listed[k] {
					add(catalog.Reference{Schema: catalog.SchemaBundle, Name: name(pkg, k)})
				}
			}
			c.Deprecations = append(c.Deprecations, d)
		}
		c.Others = append(c.Others, catalog.Meta{Schema: "x", Package: pkg, Blob: []byte(`{"package":"` + pkg + `","schema":"x"}`)})
	}
	return c
}

func name(pkg string, k int) string { return fmt.Sprintf("%s.v1.%d.0", pkg, k) }

// randomChannel has a line up to the newest entry; what is not on it is skipped
// by something.
func randomChannel(r *rand.Rand, pkg string, n int) catalog.Channel {
	ch := catalog.Channel{Schema: catalog.SchemaChannel, Package: pkg}
	online := make([]bool, n)
	for k := range n {
		online[k] = k == n-1 || r.IntN(3) > 0
	}
	entries := make([]catalog.Entry, n)
	last := ""
	for k := range n {
		e := &entries[k]
		e.Name = name(pkg, k)
		if online[k] {
			e.Replaces = last
			if last == "" && r.IntN(2) == 0 {
				e.Replaces = pkg + ".v0.9.0"
			}
			if k > 0 && !online[k-1] && r.IntN(4) == 0 {
				e.Replaces = name(pkg, k-1) // a skipped one: the line ends here
			}
			last = e.Name
		} else if k > 0 && r.IntN(2) == 0 {
			e.Replaces = name(pkg, r.IntN(n-1))
		}
		if r.IntN(5) == 0 {
			e.SkipRange = fmt.Sprintf(">=1.%d.0 <1.%d.0", r.IntN(k+1), k)
		}
	}
	for k := range n {
		if online[k] {
			continue
		}
		by := k + 1 + r.IntN(n-k-1)
		if r.IntN(4) == 0 {
			by = r.IntN(n)
		}
		entries[by].Skips = append(entries[by].Skips, name(pkg, k))
		if r.IntN(3) == 0 {
			entries[n-1].Skips = append(entries[n-1].Skips, name(pkg, k))
		}
	}
	for _, e := range entries {
		if r.IntN(12) > 0 {
			ch.Entries = append(ch.Entries, e)
		}
	}
	r.Shuffle(len(ch.Entries), func(i, j int) { ch.Entries[i], ch.Entries[j] = ch.Entries[j], ch.Entries[i] })
	return ch
}

func randomBundle(r *rand.Rand, pkg string, k int) catalog.Bundle {
	properties := []catalog.Property{property(catalog.PropertyPackage, map[string]string{"packageName": pkg, "version": fmt.Sprintf("1.%d.0", k)})}
	gvk := map[string]string{"group": "g", "version": "v1", "kind": fmt.Sprint("K", r.IntN(4))}
	other := map[string]string{"packageName": fmt.Sprint("p", r.IntN(5)), "versionRange": fmt.Sprintf(">=1.%d.0", r.IntN(9))}
	switch r.IntN(12) {
	case 0:
		properties = append(properties, property(catalog.PropertyGVK, gvk))
	case 1:
		properties = append(properties, property(catalog.PropertyGVKRequired, gvk))
	case 2:
		properties = append(properties, property(catalog.PropertyPackageRequired, other))
	case 3:
		properties = append(properties, property(catalog.PropertyConstraint, map[string]any{"any": map[string]any{"constraints": []any{
			map[string]any{"package": other}, map[string]any{"gvk": gvk},
		}}}))
	case 4:
		properties = append(properties, property(catalog.PropertyConstraint, map[string]any{"all": map[string]any{"constraints": []any{
			map[string]any{"gvk": gvk}, map[string]any{"not": map[string]any{"constraints": []any{map[string]any{"package": other}}}},
		}}}))
	case 5:
		rule := fmt.Sprintf("properties.exists(p, p.type == 'olm.gvk' && p.value.kind == '%s')", gvk["kind"])
		properties = append(properties, property(catalog.PropertyConstraint, map[string]any{"cel": map[string]string{"rule": rule}}))
	case 6:
		properties = append(properties, property(catalog.PropertyGVK, gvk), property(catalog.PropertyDeprecated, map[string]string{}))
	}
	return catalog.Bundle{
		Schema: catalog.SchemaBundle, Package: pkg, Name: name(pkg, k), Image: fmt.Sprintf("example.com/%s:%d", pkg, k), Properties: properties,
		RelatedImages: []catalog.RelatedImage{{Image: "example.com/shared@sha256:" + fmt.Sprintf("%064d", 0)}},
	}
}

func property(kind string, value any) catalog.Property {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return catalog.Property{Type: kind, Value: text}
}

// randomOptions ask for something of the catalog.
func randomOptions(r *rand.Rand, c *catalog.Catalog) Options {
	o := Options{WithoutDependencies: r.IntN(6) == 0, DefaultChannels: map[string]string{}}
	for _, p := range c.Packages {
		switch r.IntN(5) {
		case 0, 1:
			s := Selection{Package: p.Name, HeadsOnly: r.IntN(4) == 0}
			if r.IntN(3) == 0 {
				s.Channels = []string{"c0"}
			}
			if r.IntN(2) == 0 {
				from := r.IntN(8)
				s.Versions = mustRange(fmt.Sprintf(">=1.%d.0 <=1.%d.0", from, from+r.IntN(3)))
			}
			o.Packages = append(o.Packages, s)
			if r.IntN(4) == 0 {
				o.DefaultChannels[p.Name] = "c0"
			}
		case 2:
			o.Packages = append(o.Packages, Selection{Package: p.Name})
		}
		for range r.IntN(3) {
			i := graph.Installed{Package: p.Name, Version: fmt.Sprintf("1.%d.0", r.IntN(8))}
			if r.IntN(4) == 0 {
				i.Version = p.Name + ".v0.9.0"
			}
			if r.IntN(4) == 0 {
				i.Channel = "c0"
			}
			if r.IntN(2) == 0 {
				o.Installed = append(o.Installed, i)
			}
		}
	}
	o.Packages = slices.Clip(o.Packages)
	return o
}

func mustRange(text string) version.Range {
	r, err := version.ParseRange(text)
	if err != nil {
		panic(err)
	}
	return r
}
