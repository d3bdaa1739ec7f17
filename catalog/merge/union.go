package merge

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"iter"

	"fairlead.dev/fairlead/catalog"
)

// identity is what must be said once.
type identity struct {
	catalog.Object
	content [sha256.Size]byte // of an object whose schema is not known
}

// item is an object of a source.
type item struct {
	id     identity
	pkg    string
	source int
	at     catalog.Position
	object any // *Package, *Channel, *Bundle, *Deprecations or *Meta
}

// objects are those of a source, one schema after the other.
func objects(s Source, source int) iter.Seq[item] {
	return func(yield func(item) bool) {
		c := s.Catalog
		more := true
		each := func(o catalog.Object, pkg string, at catalog.Position, object any) {
			more = more && yield(item{identity{Object: o}, pkg, source, within(s.Name, at), object})
		}
		for i := range c.Packages {
			p := &c.Packages[i]
			each(catalog.Object{Schema: catalog.SchemaPackage, Name: p.Name}, p.Name, p.Position, p)
		}
		for i := range c.Channels {
			ch := &c.Channels[i]
			each(catalog.Object{Schema: catalog.SchemaChannel, Package: ch.Package, Name: ch.Name}, ch.Package, ch.Position, ch)
		}
		for i := range c.Bundles {
			b := &c.Bundles[i]
			each(catalog.Object{Schema: catalog.SchemaBundle, Package: b.Package, Name: b.Name}, b.Package, b.Position, b)
		}
		for i := range c.Deprecations {
			d := &c.Deprecations[i]
			each(catalog.Object{Schema: catalog.SchemaDeprecations, Package: d.Package}, d.Package, d.Position, d)
		}
		for i := range c.Others {
			m := &c.Others[i]
			id := identity{catalog.Object{Schema: m.Schema, Package: m.Package, Name: m.Name}, sha256.Sum256(m.Blob)}
			more = more && yield(item{id, m.Package, source, within(s.Name, m.Position), m})
		}
	}
}

// union is a catalog in the making.
type union struct {
	out       *catalog.Catalog
	seen      map[identity]item
	conflicts []Conflict
	report    *Report
}

// add takes an object, unless it is there already.
func (u *union) add(o item) error {
	first, ok := u.seen[o.id]
	if !ok {
		u.seen[o.id] = o
		// Put a copy of the object into the catalog, with its position
		switch x := o.object.(type) {
		case *catalog.Package:
			u.out.Packages = append(u.out.Packages, *x)
			u.out.Packages[len(u.out.Packages)-1].Position = o.at
		case *catalog.Channel:
			u.out.Channels = append(u.out.Channels, *x)
			u.out.Channels[len(u.out.Channels)-1].Position = o.at
		case *catalog.Bundle:
			u.out.Bundles = append(u.out.Bundles, *x)
			u.out.Bundles[len(u.out.Bundles)-1].Position = o.at
		case *catalog.Deprecations:
			u.out.Deprecations = append(u.out.Deprecations, *x)
			u.out.Deprecations[len(u.out.Deprecations)-1].Position = o.at
		case *catalog.Meta:
			u.out.Others = append(u.out.Others, *x)
			u.out.Others[len(u.out.Others)-1].Position = o.at
		}
		return nil
	}
	same, err := equal(first, o)
	switch {
	case err != nil:
		return err
	case same:
		u.report.Repeated = append(u.report.Repeated, Repeated{Object: o.id.Object, Kept: first.at, Left: o.at})
	default:
		u.conflicts = append(u.conflicts, Conflict{Object: o.id.Object, First: first.at, Second: o.at, pkg: o.pkg})
	}
	return nil
}

func equal(a, b item) (bool, error) {
	var text [2][]byte
	for i, o := range []item{a, b} {
		var err error
		if text[i], err = catalog.AppendObject(nil, o.object); err != nil {
			return false, fmt.Errorf("merge catalogs: compare %s at %s with another: %w", o.id.Object, o.at, err)
		}
	}
	return bytes.Equal(text[0], text[1]), nil
}
