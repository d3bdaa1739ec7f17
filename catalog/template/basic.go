package template

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

// entries loads the objects that a template holds. Their positions are those
// in the template.
func (d *document) entries(ctx context.Context) (*catalog.Catalog, error) {
	const key = "entries"
	items, lines, err := d.list(key)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		d.warn(d.line, "the template has no entries", "add objects to the list entries")
	}
	var stream bytes.Buffer // the object at place i is on line i+1
	for _, item := range items {
		if err := json.Compact(&stream, item); err != nil {
			return nil, fmt.Errorf("read entries: %w", err)
		}
		stream.WriteByte('\n')
	}
	// By its name the stream is meant to be read: what is no object of a catalog is an error.
	c, err := catalog.LoadFile(ctx, "entries.json", &stream, catalog.LoadOptions{})
	if c == nil {
		return nil, err
	}
	c.EachPosition(func(p *catalog.Position) {
		p.File = d.file
		if i := p.Line - 1; i >= 0 && i < len(lines) {
			p.Line = lines[i]
		}
	})
	var invalid *catalog.InvalidError
	if errors.As(err, &invalid) {
		err = c.LoadProblems.Err()
	}
	return c, err
}
