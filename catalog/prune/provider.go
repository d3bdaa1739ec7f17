package prune

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
)

// rules ask the rules of constraints about bundles, each question once. The
// zero value has asked nothing.
type rules struct {
	values map[*catalog.BundleInfo]constraint.Values
	met    map[question]bool
	cost   uint64
	looks  int
}

type question struct {
	rule   string
	bundle *catalog.BundleInfo
}

// Bounds of what all rules may cost, in the units of CEL, of which a million are
// about a fifth of a second, and of the checks of bundles. What has not been asked
// until then is not met.
const (
	maxCost  = 5_000_000
	maxLooks = 100_000_000
)

func (r *rules) spent() bool { return r.cost > maxCost || r.looks > maxLooks }

// meets tells whether a bundle alone is what a constraint asks for.
func (r *rules) meets(c constraint.Constraint, b *catalog.BundleInfo) bool {
	one := func(part constraint.Constraint) bool { return r.meets(part, b) }
	r.looks++
	switch {
	case r.spent():
		return false
	case c.CEL != nil:
		q := question{c.CEL.Text, b}
		met, known := r.met[q]
		if known {
			return met
		}
		if r.met == nil {
			r.values, r.met = map[*catalog.BundleInfo]constraint.Values{}, map[question]bool{}
		}
		values, known := r.values[b]
		if !known {
			values = constraint.ValuesOf(b.Properties)
			r.values[b] = values
		}
		met, cost := c.CEL.Ask(values)
		r.met[q] = met
		r.cost += cost
		return met
	case c.GVK != nil:
		return slices.Contains(b.Provides, *c.GVK)
	case c.Package != nil:
		return c.Package.Name == b.Package && c.Package.Range.Contains(b.Version.Version)
	case c.All != nil:
		return !slices.ContainsFunc(c.All, func(part constraint.Constraint) bool { return !one(part) })
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, one)
	}
	return !slices.ContainsFunc(c.Not, one)
}

// offers are the packages of a catalog as providers of what others need.
type offers struct {
	index       *catalog.Index
	broken      map[string]catalog.Problems // the errors of packages
	kept        map[string]*keptPackage
	constraints map[string]readConstraint // by their text
	rules       rules
}

// provides reports whether a new installation of an entry meets the need.
func (o *offers) provides(e *catalog.EntryInfo, n need) bool {
	b := e.Bundle
	return e.InChain && !b.Deprecated && b.Package != n.by && o.rules.meets(n.Constraint, b) &&
		!slices.ContainsFunc(n.without, func(c constraint.Constraint) bool { return o.rules.meets(c, b) })
}

// provider is an entry to keep for a need.
type provider struct {
	pkg, channel string
	place        int
}

// provider finds what to keep for a need that one bundle can meet: the nearest
// to the head of a channel, the default channel first. Packages of which
// something is kept already come before others, then they are taken by name.
func (o *offers) provider(n need) (provider, bool) {
	for _, name := range o.candidates(n.Constraint) {
		info, ok := o.index.Package(name)
		if !ok || len(o.broken[name]) > 0 {
			continue
		}
		for _, c := range info.Channels {
			place := slices.IndexFunc(c.Entries, func(e *catalog.EntryInfo) bool { return o.provides(e, n) })
			if place >= 0 {
				return provider{name, c.Name, place}, true
			}
		}
	}
	return provider{}, false
}

// candidates are the packages of which one bundle may meet a constraint. It is
// no one's of an "any", whose choices are needs of their own, and of an "all" of
// these.
func (o *offers) candidates(c constraint.Constraint) []string {
	switch {
	case c.Package != nil:
		return []string{c.Package.Name}
	case c.GVK != nil:
		// Those of providers, which come by package.
		providers := o.index.Providers(*c.GVK)
		var names []string
		for _, b := range providers {
			if len(names) == 0 || names[len(names)-1] != b.Package {
				names = append(names, b.Package)
			}
		}
		return o.keptFirst(names)
	}
	for _, part := range c.All {
		if part.Package != nil || part.GVK != nil {
			return o.candidates(part)
		}
	}
	if c.CEL != nil || slices.ContainsFunc(c.All, func(part constraint.Constraint) bool { return part.CEL != nil }) {
		return o.keptFirst(o.index.PackageNames())
	}
	return nil
}

func (o *offers) keptFirst(names []string) []string {
	var kept, others []string
	for _, name := range names {
		if _, ok := o.kept[name]; ok {
			kept = append(kept, name)
		} else {
			others = append(others, name)
		}
	}
	return append(kept, others...)
}

// met reports whether what is kept meets a need.
func (o *offers) met(n need) bool {
	for _, name := range o.candidates(n.Constraint) {
		pkg, ok := o.kept[name]
		if ok && slices.ContainsFunc(pkg.stretches, func(c *stretch) bool {
			return !c.empty() && slices.ContainsFunc(c.line[c.top:c.bottom+1], func(e *catalog.EntryInfo) bool { return o.provides(e, n) })
		}) {
			return true
		}
	}
	switch {
	case n.All != nil:
		_, alone := o.provider(n)
		return !alone && !slices.ContainsFunc(n.parts(), func(part need) bool { return !o.met(part) })
	case n.Any != nil:
		return slices.ContainsFunc(n.choices(), o.met)
	}
	return false
}

// offered reports whether sound packages of the catalog can meet a need.
func (o *offers) offered(n need) bool {
	if _, alone := o.provider(n); alone {
		return true
	}
	switch {
	case n.All != nil:
		return !slices.ContainsFunc(n.parts(), func(part need) bool { return !o.offered(part) })
	case n.Any != nil:
		return slices.ContainsFunc(n.choices(), o.offered)
	}
	return false
}
