package catalog

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// encoder appends objects as compact JSON, with the fields in the order of
// their types, or sorted.
type encoder struct {
	out    []byte
	sorted bool
}

// field is a member of an object. A nil value leaves it out.
type field struct {
	key   string
	value func(e *encoder) error
}

// maxDepth bounds the lists and objects in what was not loaded but made.
const maxDepth = 10_000

// encode appends an object, which is one of those of ordered.
func (e *encoder) encode(object any) error {
	switch o := object.(type) {
	case *Package:
		return e.object(
			field{"schema", text(SchemaPackage)}, field{"name", text(o.Name)},
			field{"defaultChannel", text(o.DefaultChannel)}, field{"icon", icon(o.Icon)},
			field{"description", optional(o.Description)}, field{"properties", some(o.Properties, (*encoder).property)})
	case *Channel:
		return e.object(
			field{"schema", text(SchemaChannel)}, field{"name", text(o.Name)}, field{"package", text(o.Package)},
			field{"entries", items(o.Entries, (*encoder).entry)}, field{"properties", some(o.Properties, (*encoder).property)})
	case *Bundle:
		all, err := o.allProperties()
		if err != nil {
			return err
		}
		return e.object(
			field{"schema", text(SchemaBundle)}, field{"name", optional(o.Name)}, field{"package", optional(o.Package)},
			field{"image", text(o.Image)}, field{"properties", some(all, (*encoder).sourced)},
			field{"relatedImages", some(o.RelatedImages, (*encoder).relatedImage)})
	case *Deprecations:
		return e.object(
			field{"schema", text(SchemaDeprecations)}, field{"package", text(o.Package)}, field{"entries", items(o.Entries, (*encoder).deprecation)})
	case *Meta:
		return e.raw(o.Blob)
	}
	return fmt.Errorf("a %T is no object of a catalog", object)
}

// object appends the members that have values.
func (e *encoder) object(members ...field) error {
	if e.sorted {
		slices.SortFunc(members, func(a, b field) int { return strings.Compare(a.key, b.key) })
	}
	e.out = append(e.out, '{')
	for _, m := range members {
		if m.value == nil {
			continue
		}
		if e.out[len(e.out)-1] != '{' {
			e.out = append(e.out, ',')
		}
		e.text(m.key)
		e.out = append(e.out, ':')
		if err := m.value(e); err != nil {
			return fmt.Errorf("%s: %w", m.key, err)
		}
	}
	e.out = append(e.out, '}')
	return nil
}

func (e *encoder) text(s string) {
	e.out = rawjson.AppendString(e.out, strings.ToValidUTF8(s, "\ufffd"))
}

// raw appends what should be JSON, and is where it was loaded. Null stands for
// what is missing.
func (e *encoder) raw(value []byte) error {
	if len(value) == 0 {
		e.out = append(e.out, "null"...)
		return nil
	}
	if err := rawjson.Check(value, maxDepth); err != nil {
		return fmt.Errorf("this is not JSON: %w", err)
	}
	e.out = rawjson.AppendCanonical(e.out, value)
	return nil
}

func text(s string) func(*encoder) error {
	return func(e *encoder) error {
		e.text(s)
		return nil
	}
}

// optional leaves out what is empty.
func optional(s string) func(*encoder) error {
	if s == "" {
		return nil
	}
	return text(s)
}

// items appends a list, of which one appends the items.
func items[T any](all []T, one func(*encoder, T) error) func(*encoder) error {
	return func(e *encoder) error {
		e.out = append(e.out, '[')
		for i, item := range all {
			if i > 0 {
				e.out = append(e.out, ',')
			}
			if err := one(e, item); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
		e.out = append(e.out, ']')
		return nil
	}
}

// some leaves out an empty list.
func some[T any](all []T, one func(*encoder, T) error) func(*encoder) error {
	if len(all) == 0 {
		return nil
	}
	return items(all, one)
}

// AppendObject appends an object of a catalog (a *Package, *Channel, *Bundle,
// *Deprecations or *Meta) as compact JSON with sorted keys: equal objects give
// equal text.
func AppendObject(dst []byte, object any) ([]byte, error) {
	e := encoder{out: dst, sorted: true}
	if err := e.encode(object); err != nil {
		return nil, err
	}
	return e.out, nil
}
