package catalog

import (
	"encoding/json"
	"fmt"
	"iter"
)

// ObjectFilter selects objects by their own fields; an empty field selects any.
// An olm.package belongs to no package: its name is that of the package.
type ObjectFilter struct {
	Schema  string
	Package string
	Name    string
}

// indexed is an object of an Index.
type indexed struct {
	Object
	source lineSource
}

// lineSource is where the line of an object comes from: a file, or memory. The
// line is in into if that is large enough.
type lineSource interface {
	line(into []byte) ([]byte, error)
}

// memoryLine is an object in memory.
type memoryLine struct{ object any }

func (m memoryLine) line(into []byte) ([]byte, error) {
	e := encoder{out: into[:0]}
	err := e.encode(m.object)
	return e.out, err
}

// Objects are the objects of the catalog that the filter selects, those that
// are left out of the rest of the Index included, as compact JSON without a
// line break, in the order of WriteJSON. What Load could not read is not among
// them. An object that cannot be read or written comes as an error; the next
// ones follow.
func (x *Index) Objects(f ObjectFilter) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, o := range x.objects {
			if f.Schema != "" && f.Schema != o.Schema || f.Package != "" && f.Package != o.Package || f.Name != "" && f.Name != o.Name {
				continue
			}
			line, err := x.line(o, nil)
			if !yield(line, err) {
				return
			}
		}
	}
}

// line is that of an object of the Index, in into if that is large enough.
func (x *Index) line(o indexed, into []byte) ([]byte, error) {
	line, err := o.source.line(into)
	if err != nil {
		return nil, fmt.Errorf("read %s of catalog %s: %w", o.Object, x.digest, err)
	}
	return line, nil
}

// order is where an object is written.
func (o indexed) order() ordered {
	switch o.Schema {
	case SchemaPackage:
		return ordered{pkg: o.Name, rank: rankPackage}
	case SchemaChannel:
		return ordered{pkg: o.Package, rank: rankChannel, key: o.Name}
	case SchemaBundle:
		return ordered{pkg: o.Package, rank: rankBundle, key: o.Name}
	case SchemaDeprecations:
		return ordered{pkg: o.Package, rank: rankDeprecations}
	}
	return ordered{pkg: o.Package, rank: rankOther, key: o.Schema}
}
