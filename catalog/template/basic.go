package template

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// basic fills in the bundles of a template that is a catalog otherwise.
func (d *document) basic(ctx context.Context, o Options) (*catalog.Catalog, error) {
	d.warnUnknown("schema", "entries")
	c, err := d.entries(ctx)
	if err != nil {
		return nil, err
	}
	var references []reference
	for i := range c.Bundles {
		b := &c.Bundles[i]
		if b.Package != "" || len(b.Properties)+len(b.Payloads)+len(b.RelatedImages) > 0 {
			return nil, d.fail(b.Position.Line,
				"unexpected fields present in basic template bundle; only schema, name and image may be, as the image has the rest")
		}
		if b.Image == "" {
			return nil, d.fail(b.Position.Line, "a basic template bundle has no image; name the image of the bundle")
		}
		references = append(references, reference{b.Image, b.Position.Line})
	}
	bundles, err := d.fetch(ctx, references, o)
	if err != nil {
		return nil, err
	}
	for i, b := range c.Bundles {
		rendered := bundles[b.Image].Bundle
		rendered.Position = b.Position
		if b.Name != "" && b.Name != rendered.Name {
			d.warn(b.Position.Line, fmt.Sprintf("the bundle is called %.100q here, but its image holds %.100q", b.Name, rendered.Name),
				"correct the name or the image")
		}
		c.Bundles[i] = rendered
	}
	return c, nil
}
