package resolution

import (
	"encoding/json"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution/constraint"

	"github.com/blang/semver/v4"
)

// fact is something that is installed, or would be.
type fact struct {
	extension  string
	bundle     string
	pkg        string
	version    semver.Version
	provides   []catalog.GVK
	properties []catalog.Property
	values     constraint.Values // properties as rules see them; nil until a rule is asked
	met        map[string]bool   // what rules answered
	used       bool              // it has a say in the decision
}

func factOf(pkg string, properties []catalog.Property, v semver.Version) *fact {
	f := &fact{pkg: pkg, version: v, properties: properties}
	for _, p := range properties {
		var gvk catalog.GVK
		if p.Type == catalog.PropertyGVK && json.Unmarshal(p.Value, &gvk) == nil {
			f.provides = append(f.provides, gvk)
		}
	}
	return f
}

// facts describes what is installed.
func (b *extensionBuilder) facts() {
	for _, o := range b.in.Others {
		f := factOf(o.Package, o.Installed.Properties, o.Installed.Version.Version)
		f.extension, f.bundle = o.Name, o.Installed.Name
		b.world = append(b.world, f)
	}
	if b.in.Installed == nil {
		return
	}
	properties := b.in.Installed.Properties
	for _, c := range b.catalogs {
		if len(properties) > 0 || c.Index == nil {
			continue
		}
		if bundle, ok := c.Index.BundleV1(b.in.Package, b.in.Installed.Name); ok {
			properties = bundle.Properties
		}
	}
	b.own = factOf(b.in.Package, properties, b.in.Installed.Version.Version)
	b.own.bundle = b.in.Installed.Name
}

// holds tells whether a constraint holds among what is installed.
func (b *extensionBuilder) holds(c constraint.Constraint, among []*fact) bool {
	holds := func(part constraint.Constraint) bool { return b.holds(part, among) }
	fails := func(part constraint.Constraint) bool { return !b.holds(part, among) }
	switch {
	case c.All != nil:
		return !slices.ContainsFunc(c.All, fails)
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, holds)
	case c.Not != nil:
		return !slices.ContainsFunc(c.Not, holds)
	}
	return slices.ContainsFunc(among, func(f *fact) bool { return b.meets(c, f) })
}

// use marks what meets a part of a constraint: it has a say in the decision.
func (b *extensionBuilder) use(c constraint.Constraint) {
	for _, parts := range [][]constraint.Constraint{c.All, c.Any, c.Not} {
		for _, part := range parts {
			b.use(part)
		}
	}
	if c.All != nil || c.Any != nil || c.Not != nil {
		return
	}
	for _, f := range b.world {
		f.used = f.used || b.meets(c, f)
	}
}

// useAll marks what has a say in whether the needs of those that have a say are met, and so on.
func (b *extensionBuilder) useAll() {
	done := map[*fact]bool{}
	for again := true; again; {
		again = false
		for _, f := range b.world {
			if !f.used || done[f] {
				continue
			}
			done[f], again = true, true
			for _, n := range b.needsOf(f) {
				if n.err == nil {
					b.use(n.what)
				}
			}
		}
	}
}

// spent tells that the needs of bundles have cost too much to look into any more of them.
func (b *extensionBuilder) spent() bool { return b.cost > maxRuleCost || b.asked > maxAsked }

// meets tells whether one operator is what a constraint without parts asks for.
func (b *extensionBuilder) meets(c constraint.Constraint, f *fact) bool {
	b.asked++
	switch {
	case c.GVK != nil:
		return slices.Contains(f.provides, *c.GVK)
	case c.Package != nil:
		return f.pkg == c.Package.Name && c.Package.Range.Contains(f.version)
	}
	if met, known := f.met[c.CEL.Text]; known {
		return met
	}
	if b.spent() {
		return false
	}
	if f.met == nil {
		f.met, f.values = map[string]bool{}, constraint.ValuesOf(f.properties)
	}
	met, cost := c.CEL.Ask(f.values)
	b.cost += cost
	if constraint.TooDear(cost) {
		if b.stopped == nil {
			b.stopped = map[string]bool{}
		}
		b.stopped[c.CEL.Text] = true
	}
	f.met[c.CEL.Text] = met
	return met
}

// unknown tells that a rule of the constraint was stopped because it cost too much, so that nobody knows who meets it.
func (b *extensionBuilder) unknown(c constraint.Constraint) bool {
	if c.CEL != nil {
		return b.stopped[c.CEL.Text]
	}
	return slices.ContainsFunc(slices.Concat(c.All, c.Any, c.Not), b.unknown)
}
