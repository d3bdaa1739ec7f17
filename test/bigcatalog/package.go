package bigcatalog

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"fairlead.dev/fairlead/catalog"
)

// Package is one package of a catalog, which is valid.
func Package(s Shape, number int) *catalog.Catalog {
	m := &maker{Rand: rand.New(rand.NewPCG(uint64(number), 1)), name: fmt.Sprintf("operator-%03d", number), bytes: s.BundleBytes}
	if number == 0 && s.Packages > 1 {
		m.bytes *= firstFactor
	}
	n := s.bundles(number)
	c := &catalog.Catalog{Packages: []catalog.Package{{
		Schema: catalog.SchemaPackage, Name: m.name, DefaultChannel: "stable", Description: m.text(400),
		Icon: &catalog.Icon{Data: m.noise(3000), MediaType: "image/png"},
	}}}
	c.Channels = append(c.Channels, m.channel("stable", 0, n))
	if n > 3 && number%50 != 1 {
		c.Channels = append(c.Channels, m.channel("candidate", n/2, n))
	}
	for i := range n {
		b := catalog.Bundle{
			Schema: catalog.SchemaBundle, Package: m.name, Name: m.bundleName(i), Image: m.image(m.name + "-bundle"),
		}
		apis := 1 + i%10
		for n := range apis {
			b.Properties = append(b.Properties, property(catalog.PropertyGVK, m.api(n)))
		}
		b.Properties = append(b.Properties,
			property(catalog.PropertyPackage, map[string]string{"packageName": m.name, "version": m.version(i)}),
			property(catalog.PropertyCSVMetadata, m.metadata(i, apis)))
		for n := range 2 + i%6 {
			b.RelatedImages = append(b.RelatedImages, catalog.RelatedImage{Name: fmt.Sprintf("image-%d", n), Image: m.image(m.name)})
		}
		c.Bundles = append(c.Bundles, b)
	}
	return c
}

// maker makes what belongs to one package.
type maker struct {
	*rand.Rand
	name  string
	bytes int // of a bundle
}

func (m *maker) version(i int) string { return fmt.Sprintf("%d.%d.%d", 1+i/100, i/10%10, i%10) }

func (m *maker) bundleName(i int) string { return m.name + ".v" + m.version(i) }

// channel has the bundles from first to before last, each upgrading from the one before.
func (m *maker) channel(name string, first, last int) catalog.Channel {
	c := catalog.Channel{Schema: catalog.SchemaChannel, Package: m.name, Name: name}
	for i := first; i < last; i++ {
		e := catalog.Entry{Name: m.bundleName(i)}
		if i > first {
			e.Replaces = m.bundleName(i - 1)
			e.SkipRange = fmt.Sprintf(">=%s <%s", m.version(first), m.version(i))
		}
		c.Entries = append(c.Entries, e)
	}
	return c
}

func property(propertyType string, value any) catalog.Property {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("bigcatalog: a value made here cannot be written: %v", err))
	}
	return catalog.Property{Type: propertyType, Value: data}
}

func (m *maker) api(n int) catalog.GVK {
	return catalog.GVK{Group: m.name + ".example.com", Version: "v1", Kind: fmt.Sprintf("Kind%d", n)}
}

func (m *maker) image(name string) string {
	return fmt.Sprintf("registry.example.com/operators/%s@sha256:%016x%016x%016x%016x", name, m.Uint64(), m.Uint64(), m.Uint64(), m.Uint64())
}
