package extension

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/internal/constraint"
	"fairlead.dev/fairlead/resolve"
)

// need is what a bundle requires of what is installed beside it.
type need struct {
	kind  string // the type of the property that says so
	field string
	what  constraint.Constraint
	err   error // why it cannot be read
}

type readConstraint struct {
	*constraint.Constraint
	err error
}

const (
	maxNeeds    = 1000       // of one bundle
	maxRuleCost = 2_000_000  // of all rules in one decision, in the units of CEL: a million are about a fifth of a second
	maxAsked    = 20_000_000 // questions whether something meets a need, in one decision
)

// needs states what a candidate requires. Other extensions have to have it installed: nothing is installed that nobody asked for.
func (b *builder) needs(c *candidate) {
	all := b.needsOf(c.fact())
	if len(all) > maxNeeds {
		o := b.needOrigin(c, "properties", "%s needs %d APIs, packages and other things; no more than %d are looked for", c.bundle.Name, len(all), maxNeeds)
		o.Hint = "ask the authors of package " + b.in.Package + " to let it need less"
		b.unmet(c, all[maxNeeds], o, "too many needs")
		return
	}
	for _, n := range all {
		if b.spent() {
			b.tooDear(c, n)
			return
		}
		if n.err != nil {
			o := b.needOrigin(c, n.field, "%s has an %s that cannot be read: %v", c.bundle.Name, n.kind, n.err)
			o.Hint = fmt.Sprintf("ask the authors of package %s to correct %s of %s", b.in.Package, strings.TrimPrefix(n.field, "properties, "), c.bundle.Name)
			b.unmet(c, n, o, "cannot be read")
			continue
		}
		b.require(c, n)
	}
}

// tooDear refuses a candidate because nobody knows whether it has what it needs.
func (b *builder) tooDear(c *candidate, n need) {
	o := b.needOrigin(c, n.field, "to find out whether the needs of %s are met costs too much", c.bundle.Name)
	o.Hint = "ask the authors of package " + b.in.Package + " for rules that cost less"
	b.unmet(c, n, o, "costs too much")
}

// fact is a candidate as something that is installed.
func (c *candidate) fact() *fact {
	return &fact{pkg: c.bundle.Package, version: c.bundle.Version.Version, provides: c.bundle.Provides, properties: c.bundle.Properties}
}

// unmet states that nothing can meet a need of the candidate.
func (b *builder) unmet(c *candidate, n need, o resolve.Origin, alike string) {
	o.Alike = alike
	if len(c.refusals) == 0 {
		b.problem.Depends(c.v, nil, o)
	}
	c.refusals = append(c.refusals, refusal{rule: ruleNeed, origin: o, by: n.kind})
}

// needOrigin says where a rule about what the candidate needs comes from.
func (b *builder) needOrigin(c *candidate, field, format string, args ...any) resolve.Origin {
	o := b.originOf(c, field, format, args...)
	o.Object = "bundle " + c.bundle.Name
	return o
}

func (b *builder) require(c *candidate, n need) {
	b.use(n.what)
	text := describe(n.what)
	o := b.needOrigin(c, n.field, "%s requires %s", c.bundle.Name, text)
	holds := b.holds(n.what, b.besides(c.bundle.Package))
	if b.unknown(n.what) {
		b.tooDear(c, n)
		return
	}
	if holds {
		b.problem.Formula(c.v, b.formula(n.what, c.bundle.Package), o)
		return
	}
	if b.spent() {
		b.tooDear(c, n)
		return
	}
	o.Text += ", and what other ClusterExtensions have installed does not meet that"
	o.Hint = b.provide(n.what, strings.TrimPrefix(n.field, "properties, ")+" of "+c.bundle.Name)
	o.Alike = "requires " + text
	if len(c.refusals) == 0 {
		b.problem.Formula(c.v, b.formula(n.what, c.bundle.Package), o)
	}
	c.refusals = append(c.refusals, refusal{rule: ruleNeed, origin: o, by: n.kind, lacks: b.lacks(n.what, c.bundle.Package)})
}

// besides is the world without what is of a package: another version of a package does not provide for it.
func (b *builder) besides(pkg string) []*fact {
	return slices.DeleteFunc(slices.Clone(b.world), func(f *fact) bool { return f.pkg == pkg })
}

// formula is a constraint over what is installed.
func (b *builder) formula(c constraint.Constraint, pkg string) resolve.Formula {
	parts := func(list []constraint.Constraint) []resolve.Formula {
		out := make([]resolve.Formula, len(list))
		for i, part := range list {
			out[i] = b.formula(part, pkg)
		}
		return out
	}
	switch {
	case c.All != nil:
		return resolve.All(parts(c.All)...)
	case c.Any != nil:
		return resolve.Any(parts(c.Any)...)
	case c.Not != nil:
		return resolve.Not(resolve.Any(parts(c.Not)...))
	}
	var met []resolve.Formula
	for _, f := range b.besides(pkg) {
		if b.meets(c, f) {
			met = append(met, resolve.Lit(b.present(f)))
		}
	}
	return resolve.Any(met...)
}

// present is the Var of what another extension has installed, which is a fact.
func (b *builder) present(f *fact) resolve.Var {
	v, known := b.installed[f.extension]
	if !known {
		v = b.problem.Var("installed:" + f.extension)
		b.installed[f.extension] = v
		b.problem.Require(v, resolve.Origin{Object: "ClusterExtension " + f.extension, Field: "status.install.bundle",
			Text: fmt.Sprintf("ClusterExtension %s has %s installed", f.extension, f.bundle)})
	}
	return v
}
