package template

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

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
