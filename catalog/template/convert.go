package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/catalog/internal/yamljson"
)

// Format is how a template is written.
type Format string

// The formats of templates.
const (
	JSON Format = "json"
	YAML Format = "yaml"
)

// Convert writes a template that renders to a catalog: of type Basic, with each
// bundle reduced to its image, or of type Substitutes, without substitutions.
func Convert(w io.Writer, c *catalog.Catalog, t Type, f Format) error {
	out, err := converted(c, t)
	if err != nil {
		return fmt.Errorf("convert a catalog to a %s template: %w", t, err)
	}
	if f == YAML {
		out = yamljson.AppendYAML(nil, out)
	} else {
		var indented bytes.Buffer
		if err := json.Indent(&indented, out, "", "    "); err != nil {
			return fmt.Errorf("write template: %w", err)
		}
		out = append(indented.Bytes(), '\n')
	}
	if _, err := w.Write(out); err != nil {
		return fmt.Errorf("write template: %w", err)
	}
	return nil
}

func converted(c *catalog.Catalog, t Type) ([]byte, error) {
	if t != Basic && t != Substitutes {
		return nil, fmt.Errorf("there is no way to it; choose %s or %s", Basic, Substitutes)
	}
	if len(c.Packages)+len(c.Channels)+len(c.Bundles)+len(c.Deprecations)+len(c.Others) == 0 {
		return nil, errors.New("there is no object of a catalog in it; name the file or directory that holds the catalog")
	}
	whole := *c
	if t == Basic {
		// No more of bundles than it takes to put them in order and to pull them.
		whole.Bundles = make([]catalog.Bundle, len(c.Bundles))
		for i, b := range c.Bundles {
			if b.Image == "" {
				return nil, fmt.Errorf("bundle %q of package %q has no image to render it from; keep such bundles in a catalog of their own", b.Name, b.Package)
			}
			whole.Bundles[i] = catalog.Bundle{Schema: b.Schema, Name: b.Name, Package: b.Package, Image: b.Image}
		}
	}
	var stream bytes.Buffer
	if err := catalog.WriteJSON(&stream, &whole); err != nil {
		return nil, err
	}
	out := []byte(`{"schema":"` + schemas[t] + `","entries":[`)
	decoder := json.NewDecoder(&stream)
	for first := true; decoder.More(); first = false {
		var object json.RawMessage
		if err := decoder.Decode(&object); err != nil {
			return nil, err
		}
		if !first {
			out = append(out, ',')
		}
		// In a basic template, a bundle keeps only its schema and image.
		var bundle struct{ Schema, Image string }
		if t == Basic && json.Unmarshal(object, &bundle) == nil && bundle.Schema == catalog.SchemaBundle {
			out = append(out, `{"schema":"`+catalog.SchemaBundle+`","image":`...)
			out = append(rawjson.AppendString(out, bundle.Image), '}')
			continue
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, object); err != nil {
			return nil, err
		}
		out = append(out, compact.Bytes()...)
	}
	out = append(out, ']')
	if t == Substitutes {
		out = append(out, `,"substitutions":[]`...)
	}
	return append(out, '}'), nil
}
