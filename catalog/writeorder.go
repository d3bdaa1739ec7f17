package catalog

import (
	"cmp"
	"slices"
	"strings"
)

// rank is the order of schemas within a package; objects of others are in the
// place of rankOther.
const (
	rankPackage = iota
	rankChannel
	rankBundle
	rankOther
	rankDeprecations
)

// ordered is an object with what says where it is written.
type ordered struct {
	pkg    string
	rank   int
	key    string // orders those of one rank
	object any    // *Package, *Channel, *Bundle, *Deprecations or *Meta
}

// canonicalOrder lists the objects of a catalog in the order in which they are
// written: by package, and those without one last.
func canonicalOrder(c *Catalog) []ordered {
	all := make([]ordered, 0, len(c.Packages)+len(c.Channels)+len(c.Bundles)+len(c.Others)+len(c.Deprecations))
	for i := range c.Packages {
		all = append(all, ordered{c.Packages[i].Name, rankPackage, "", &c.Packages[i]})
	}
	for i := range c.Channels {
		all = append(all, ordered{c.Channels[i].Package, rankChannel, c.Channels[i].Name, &c.Channels[i]})
	}
	for i := range c.Bundles {
		all = append(all, ordered{c.Bundles[i].Package, rankBundle, c.Bundles[i].Name, &c.Bundles[i]})
	}
	for i := range c.Others {
		all = append(all, ordered{c.Others[i].Package, rankOther, c.Others[i].Schema, &c.Others[i]})
	}
	for i := range c.Deprecations {
		all = append(all, ordered{c.Deprecations[i].Package, rankDeprecations, "", &c.Deprecations[i]})
	}
	slices.SortStableFunc(all, ordered.compare)
	return all
}

func (o ordered) compare(p ordered) int {
	return cmp.Or(
		compareBool(o.pkg == "", p.pkg == ""),
		strings.Compare(o.pkg, p.pkg),
		cmp.Compare(o.rank, p.rank),
		strings.Compare(o.key, p.key),
	)
}

// name says in a message what the object is.
func (o ordered) name() Object {
	switch x := o.object.(type) {
	case *Package:
		return Object{Schema: SchemaPackage, Name: x.Name}
	case *Channel:
		return Object{Schema: SchemaChannel, Package: x.Package, Name: x.Name}
	case *Bundle:
		return Object{Schema: SchemaBundle, Package: x.Package, Name: x.Name}
	case *Meta:
		return Object{Schema: x.Schema, Package: x.Package, Name: x.Name}
	}
	return Object{Schema: SchemaDeprecations, Package: o.pkg}
}
