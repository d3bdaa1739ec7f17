package bundleio

import (
	"cmp"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// normalize puts the parts of bundles in order: properties that carry manifests, which are long, come after all others, and related
// images are sorted.
func normalize(c *catalog.Catalog) {
	for i := range c.Bundles {
		b := &c.Bundles[i]
		b.Properties = slices.Clone(b.Properties)
		slices.SortStableFunc(b.Properties, func(x, y catalog.Property) int { return weight(x.Type) - weight(y.Type) })
		b.Payloads = slices.Clone(b.Payloads)
		slices.SortStableFunc(b.Payloads, func(x, y catalog.Payload) int { return cmp.Compare(x.Index, y.Index) })
		for j := range b.Payloads {
			b.Payloads[j].Index = len(b.Properties) + j
		}
		b.RelatedImages = slices.Clone(b.RelatedImages)
		slices.SortStableFunc(b.RelatedImages, func(x, y catalog.RelatedImage) int { return strings.Compare(x.Image, y.Image) })
	}
}

func weight(propertyType string) int {
	switch propertyType {
	case catalog.PropertyBundleObject, catalog.PropertyCSVMetadata:
		return 1
	}
	return 0
}

func migrate(c *catalog.Catalog, level catalog.MigrationLevel) (*catalog.Catalog, error) {
	if level == "" {
		return c, nil
	}
	return catalog.Migrate(c, level)
}
