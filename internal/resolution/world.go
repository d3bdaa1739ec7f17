package resolution

import (
	"encoding/json"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"

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

// world is what is installed, and what was asked about it. Needs and rules are read and asked once, and cost no more than a decision may.
type world struct {
	facts   []*fact // what other extensions have installed, by their names
	own     *fact   // what the extension itself has; nil when it has nothing
	rules   map[string]readConstraint
	cost    uint64          // of the rules in CEL so far
	stopped map[string]bool // rules in CEL that cost too much for one operator
	asked   int             // how often it was asked whether something meets a need
}

// holds tells whether a constraint holds among what is installed.
func (w *world) holds(c constraint.Constraint, among []*fact) bool {
	holds := func(part constraint.Constraint) bool { return w.holds(part, among) }
	fails := func(part constraint.Constraint) bool { return !w.holds(part, among) }
	switch {
	case c.All != nil:
		return !slices.ContainsFunc(c.All, fails)
	case c.Any != nil:
		return slices.ContainsFunc(c.Any, holds)
	case c.Not != nil:
		return !slices.ContainsFunc(c.Not, holds)
	}
	return slices.ContainsFunc(among, func(f *fact) bool { return w.meets(c, f) })
}

// use marks what meets a part of a constraint: it has a say in the decision.
func (w *world) use(c constraint.Constraint) {
	for _, parts := range [][]constraint.Constraint{c.All, c.Any, c.Not} {
		for _, part := range parts {
			w.use(part)
		}
	}
	if c.All != nil || c.Any != nil || c.Not != nil {
		return
	}
	for _, f := range w.facts {
		f.used = f.used || w.meets(c, f)
	}
}

// spent tells that the needs of bundles have cost too much to look into any more of them.
func (w *world) spent() bool { return w.cost > maxRuleCost || w.asked > maxAsked }

// meets tells whether one operator is what a constraint without parts asks for.
func (w *world) meets(c constraint.Constraint, f *fact) bool {
	w.asked++
	switch {
	case c.GVK != nil:
		return slices.Contains(f.provides, *c.GVK)
	case c.Package != nil:
		return f.pkg == c.Package.Name && c.Package.Range.Contains(f.version)
	}
	if met, known := f.met[c.CEL.Text]; known {
		return met
	}
	if w.spent() {
		return false
	}
	if f.met == nil {
		f.met, f.values = map[string]bool{}, constraint.ValuesOf(f.properties)
	}
	met, cost := c.CEL.Ask(f.values)
	w.cost += cost
	if constraint.TooDear(cost) {
		if w.stopped == nil {
			w.stopped = map[string]bool{}
		}
		w.stopped[c.CEL.Text] = true
	}
	f.met[c.CEL.Text] = met
	return met
}

// unknown tells that a rule of the constraint was stopped because it cost too much, so that no one knows who meets it.
func (w *world) unknown(c constraint.Constraint) bool {
	if c.CEL != nil {
		return w.stopped[c.CEL.Text]
	}
	return slices.ContainsFunc(slices.Concat(c.All, c.Any, c.Not), w.unknown)
}

// besides is the world without what is of a package: another version of a package does not provide for it.
func (w *world) besides(pkg string) []*fact {
	return slices.DeleteFunc(slices.Clone(w.facts), func(f *fact) bool { return f.pkg == pkg })
}

// needsOf reads what something needs of others, in the order of its properties by type. What it meets itself it does not need.
func (w *world) needsOf(f *fact) []requirement {
	var all []requirement
	count := map[string]int{}
	for _, p := range f.properties {
		if !IsNeed(p) {
			continue
		}
		count[p.Type]++
		n := requirement{kind: p.Type, field: fmt.Sprintf("properties, %s #%d", p.Type, count[p.Type])}
		known, ok := w.rules[p.Type+" "+string(p.Value)]
		if !ok {
			known.Constraint, known.err = parseNeed(p)
			w.rules[p.Type+" "+string(p.Value)] = known
		}
		if n.err = known.err; n.err == nil {
			n.what = *known.Constraint
			var done bool
			n.what, done = n.what.Rest(func(leaf constraint.Constraint) bool { return w.meets(leaf, f) })
			if done {
				continue
			}
		}
		all = append(all, n)
	}
	return all
}

// IsNeed tells whether a property is one of those that needsOf reads.
func IsNeed(p catalog.Property) bool {
	switch p.Type {
	case catalog.PropertyGVKRequired, catalog.PropertyPackageRequired, catalog.PropertyLabelRequired, catalog.PropertyConstraint:
		return true
	}
	return false
}
