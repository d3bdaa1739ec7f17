package bundleio

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// manifestProperty carries a manifest. A bundle with an image needs none of them in its catalog.
const manifestProperty = "olm.bundle.object"

// Linear makes a catalog in which every package has one channel, its bundles one after the other by version. That is not what
// their authors meant by replaces and skips, but it is a valid graph for any set of bundles.
func Linear(published []PublishedBundle) (*catalog.Catalog, error) {
	c := &catalog.Catalog{}
	for i, p := range published {
		b, err := p.Bundle.ToCatalog(p.Image)
		if err != nil {
			return nil, fmt.Errorf("describe bundle %s for a catalog: %w", p.Bundle.Name, err)
		}
		b.Properties = slices.DeleteFunc(b.Properties, func(p catalog.Property) bool { return p.Type == manifestProperty })
		c.Bundles = append(c.Bundles, b)
		entry := catalog.Entry{Name: p.Bundle.Name}
		if i > 0 && published[i-1].Bundle.Package == p.Bundle.Package {
			entry.Replaces = published[i-1].Bundle.Name
			last := &c.Channels[len(c.Channels)-1]
			last.Entries = append(last.Entries, entry)
			continue
		}
		channel := p.Bundle.DefaultChannel
		c.Packages = append(c.Packages, catalog.Package{Schema: catalog.SchemaPackage, Name: p.Bundle.Package, DefaultChannel: channel})
		c.Channels = append(c.Channels, catalog.Channel{Schema: catalog.SchemaChannel, Name: channel, Package: p.Bundle.Package, Entries: []catalog.Entry{entry}})
	}
	return c, nil
}

// Relocate makes the bundles of a catalog point at the published images. It is an error if a bundle was not published.
func Relocate(c *catalog.Catalog, published []PublishedBundle) error {
	images := map[string]string{}
	for _, p := range published {
		images[p.Bundle.Name] = p.Image
	}
	for i := range c.Bundles {
		b := &c.Bundles[i]
		image, ok := images[b.Name]
		if !ok {
			return fmt.Errorf("relocate the catalog: bundle %s of package %s is not among the published bundles", b.Name, b.Package)
		}
		for j := range b.RelatedImages {
			if b.RelatedImages[j].Image == b.Image {
				b.RelatedImages[j].Image = image
			}
		}
		b.Image = image
	}
	return nil
}
