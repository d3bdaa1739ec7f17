package prune

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/catalog/safetext"
)

// need is something that a bundle requires of others.
type need struct {
	constraint.Constraint
	// by is the package of the bundle, of which no other version is a provider:
	// a namespace has one version of it.
	by string
	// without are what a provider must not be: a "not" beside the need in an "all".
	without []constraint.Constraint
}

// text is the need in words, which differ for needs that do.
func (n need) text() string {
	if len(n.without) == 0 {
		return words(n.Constraint)
	}
	return words(n.Constraint) + " and " + words(constraint.Constraint{Not: n.without})
}

func words(c constraint.Constraint) string {
	switch {
	case c.GVK != nil:
		return "API " + c.GVK.String()
	case c.Package != nil:
		return "package " + strconv.Quote(c.Package.Name) + " " + c.Package.Range.String()
	case c.CEL != nil:
		return "what meets the rule " + strconv.Quote(c.CEL.Text)
	}
	kind, parts := "none", c.Not
	if c.All != nil {
		kind, parts = "all", c.All
	} else if c.Any != nil {
		kind, parts = "any", c.Any
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = words(part)
	}
	return kind + " of (" + strings.Join(texts, ", ") + ")"
}

// demands tells whether a constraint wants something to be there: a "not" does
// not, nor does a choice that has one.
func demands(c constraint.Constraint) bool {
	switch {
	case c.All != nil:
		return slices.ContainsFunc(c.All, demands)
	case c.Any != nil:
		return !slices.ContainsFunc(c.Any, func(part constraint.Constraint) bool { return !demands(part) })
	}
	return c.Not == nil
}

// parts are the needs that an "all" is made of.
func (n need) parts() []need {
	without := slices.Clone(n.without)
	for _, part := range n.All {
		without = append(without, part.Not...)
	}
	var found []need
	for _, part := range n.All {
		if demands(part) {
			found = append(found, need{part, n.by, without})
		}
	}
	return found
}

// choices are the needs that an "any" is made of, one of which is enough.
func (n need) choices() []need {
	found := make([]need, len(n.Any))
	for i, part := range n.Any {
		found[i] = need{part, n.by, n.without}
	}
	return found
}

// needs are those of a bundle, and what cannot be followed of its constraints.
// What it meets itself it does not need.
func (o *offers) needs(b *catalog.BundleInfo) (all []need, untold []string) {
	add := func(c constraint.Constraint) {
		rest, done := c.Rest(func(leaf constraint.Constraint) bool { return o.rules.meets(leaf, b) })
		if !done && demands(rest) {
			all = append(all, need{Constraint: rest, by: b.Package})
		}
	}
	for _, r := range b.RequiredPackages {
		add(constraint.Constraint{Package: &constraint.Package{Name: r.PackageName, Range: r.Range}})
	}
	for _, gvk := range b.Requires {
		add(constraint.Constraint{GVK: &gvk})
	}
	for _, raw := range b.Constraints {
		// Read a constraint; versions of a package mostly repeat each other's.
		known, ok := o.constraints[string(raw)]
		if !ok {
			c, err := constraint.Parse(raw)
			known = readConstraint{c, err}
			o.constraints[string(raw)] = known
		}
		c, err := known.Constraint, known.err
		if err != nil {
			untold = append(untold, fmt.Sprintf("a constraint cannot be read, so it cannot be installed: %v", err))
			continue
		}
		add(*c)
	}
	return all, untold
}

// readConstraint is what became of reading one.
type readConstraint struct {
	*constraint.Constraint
	err error
}

// keepRequired keeps what a bundle requires, unless something kept provides it.
func (p *pruner) keepRequired(b *catalog.BundleInfo) error {
	all, untold := p.needs(b)
	who := "bundle " + safetext.Quote(b.Name) + " of package " + safetext.Quote(b.Package)
	for _, reason := range untold {
		p.note("%s: %s", who, reason)
	}
	for _, n := range all {
		text := n.text()
		key := settledNeed{n.by, text}
		if p.settled[key] {
			continue
		}
		p.settled[key] = true
		switch offered := p.offered(n); {
		case !offered && p.rules.spent():
			p.note("%s requires %s, and the rules of constraints cost too much to find out who provides it; if a mirror needs it, name that package", who, safetext.OneLine(safetext.Truncate(text, 400)))
		case !offered:
			p.note("%s requires %s, which no other package of the catalog has", who, safetext.OneLine(safetext.Truncate(text, 400)))
		default:
			if err := p.provide(n, who+" requires "+safetext.OneLine(safetext.Truncate(text, 400))); err != nil {
				return err
			}
		}
	}
	return nil
}

// settledNeed is a need that was checked.
type settledNeed struct{ by, text string }

// provide keeps what meets a need that can be met, if nothing does so yet.
func (p *pruner) provide(n need, reason string) error {
	if p.met(n) {
		return nil
	}
	found, alone := p.provider(n)
	switch {
	case alone: // also of an "all": some resolvers want one bundle to be all of it
		pkg, err := p.keep(found.pkg, reason)
		if err != nil {
			return err
		}
		c, err := pkg.channel(found.channel)
		if err != nil {
			return err
		}
		c.why.add("has what is required")
		p.extend(pkg, c, found.place, reason)
		return nil
	case n.All != nil:
		for _, part := range n.parts() {
			if err := p.provide(part, reason); err != nil {
				return err
			}
		}
		return nil
	}
	choices := n.choices()
	return p.provide(choices[slices.IndexFunc(choices, p.offered)], reason)
}
