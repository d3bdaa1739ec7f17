package catalog

import (
	"encoding/base64"
	"fmt"
	"slices"
)

// The parts of objects.

func icon(i *Icon) func(*encoder) error {
	if i == nil {
		return nil
	}
	return func(e *encoder) error {
		return e.object(field{"base64data", text(base64.StdEncoding.EncodeToString(i.Data))}, field{"mediatype", text(i.MediaType)})
	}
}

func (e *encoder) entry(x Entry) error {
	skip := func(e *encoder, name string) error { return text(name)(e) }
	return e.object(
		field{"name", text(x.Name)}, field{"replaces", optional(x.Replaces)},
		field{"skips", some(x.Skips, skip)}, field{"skipRange", optional(x.SkipRange)})
}

func (e *encoder) relatedImage(r RelatedImage) error {
	return e.object(field{"name", text(r.Name)}, field{"image", text(r.Image)})
}

func (e *encoder) deprecation(d Deprecation) error {
	reference := func(e *encoder) error {
		return e.object(field{"schema", text(d.Reference.Schema)}, field{"name", optional(d.Reference.Name)})
	}
	return e.object(field{"reference", reference}, field{"message", text(d.Message)})
}

func (e *encoder) property(p Property) error { return e.sourced(sourcedProperty{Property: p}) }

// sourcedProperty is a property that knows whether its value has been checked
// and is canonical already.
type sourcedProperty struct {
	Property
	canonical bool
}

func (e *encoder) sourced(p sourcedProperty) error {
	value := func(e *encoder) error {
		if p.canonical {
			e.out = append(e.out, p.Value...)
			return nil
		}
		return e.raw(p.Value)
	}
	return e.object(field{"type", text(p.Type)}, field{"value", value})
}

// AllProperties are the properties of the bundle and its payloads, unpacked, in
// the order they were written.
func (b *Bundle) AllProperties() ([]Property, error) {
	sourced, err := b.allProperties()
	if err != nil {
		return nil, err
	}
	all := make([]Property, len(sourced))
	for i, p := range sourced {
		all[i] = p.Property
	}
	return all, nil
}

func (b *Bundle) allProperties() ([]sourcedProperty, error) {
	all := make([]sourcedProperty, 0, len(b.Properties)+len(b.Payloads))
	for _, p := range b.Properties {
		all = append(all, sourcedProperty{Property: p})
	}
	payloads := slices.SortedFunc(slices.Values(b.Payloads), func(x, y Payload) int { return x.Index - y.Index })
	for _, p := range payloads {
		value, err := p.Value()
		if err != nil {
			return nil, fmt.Errorf("property[%d] of bundle %q: %w", p.Index, b.Name, err)
		}
		packed := sourcedProperty{Property{Type: p.Type, Value: value}, p.fault == ""}
		all = slices.Insert(all, min(p.Index, len(all)), packed)
	}
	return all, nil
}

// MarshalJSON writes the bundle with its payloads in the place where they were
// among the properties.
func (b Bundle) MarshalJSON() ([]byte, error) {
	var e encoder
	err := e.encode(&b)
	return e.out, err
}
