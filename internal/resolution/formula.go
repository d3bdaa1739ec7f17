package resolution

import (
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/resolve"
)

// formula is a constraint with parts, its nots moved down to the leaves, and who may meet them.
type formula struct {
	parts []*formula // nil for a leaf
	every bool       // all parts have to hold, not just one
	// A leaf is about one operator. It is wanted, then it holds if the node that has the constraint meets it itself, else candidates are
	// the operators that may; or it is unwanted, then other operators that meet it are kept out of the answer.
	leaf       condition
	unwanted   bool
	itself     bool
	candidates []resolve.Var
	blind      *Source
	text       string
}

// compound is a formula that a node needs to hold.
type compound struct {
	of      resolve.Var
	formula *formula
	origin  resolve.Origin
}

// formulaOf prepares a constraint: the candidates of what is wanted become nodes. unwanted tells that an odd number of nots is around it.
func (b *dependencies) formulaOf(v resolve.Var, c constraint.Constraint, unwanted bool) *formula {
	if leaf, simple := b.conditionOf(c, b.node(v).bundle.Package); simple {
		f := &formula{leaf: leaf, unwanted: unwanted, text: "an operator " + leaf.text}
		if f.itself = !unwanted && leaf.meets(b.node(v)); !unwanted && !f.itself {
			f.candidates, f.blind = b.candidates(v, leaf)
		}
		return f
	}
	list, word := c.Any, " or "
	switch {
	case c.All != nil:
		list, word = c.All, " and "
	case c.Not != nil:
		list, unwanted = c.Not, !unwanted
	}
	f := &formula{parts: make([]*formula, 0, len(list)), every: (c.All != nil) != unwanted}
	for _, part := range list {
		p := b.formulaOf(v, part, unwanted)
		p.text += said(part.FailureMessage)
		f.parts = append(f.parts, p)
	}
	f.text = texts(f.parts, word, func(part *formula) string { return part.text })
	switch {
	case len(f.parts) == 0:
		f.text = "nothing"
	case len(f.parts) > 1:
		f.text = "(" + f.text + ")"
	}
	if c.Not != nil {
		f.text = "the absence of " + f.text
	}
	return f
}

// compound states that v needs a constraint with parts to hold. What is installed although it cannot hold is left in peace.
func (b *dependencies) compound(v resolve.Var, field string, f *formula, message string) {
	n := b.node(v)
	if n.operator != nil {
		if !f.holds(func(leaf *formula) bool { return leaf.unwanted || leaf.itself || len(leaf.candidates) > 0 }) {
			return // it has no candidates for what it wants
		}
		b.lacking[need{v, field}] = !f.holds(func(leaf *formula) bool { return leaf.itself || b.installedMeets(n, leaf.leaf) != leaf.unwanted })
	}
	what := f.text + said(message)
	origin := n.origin(field, "%s requires %s", n.label(), what)
	origin.Alike = what
	if blind := firstIn(f, func(leaf *formula) *Source { return leaf.blind }); blind != nil {
		b.blind[need{v, field}] = blind.Ref
		blind.hides(&origin)
	}
	b.compounds = append(b.compounds, compound{v, f, origin})
}

// holds reports whether the formula holds when its leaves hold as they are said to.
func (f *formula) holds(leaf func(*formula) bool) bool {
	if f.parts == nil {
		return leaf(f)
	}
	for _, part := range f.parts {
		if part.holds(leaf) != f.every {
			return !f.every
		}
	}
	return f.every
}

// firstIn is what the first of the leaves of a formula has that has it, or the zero value.
func firstIn[T comparable](f *formula, of func(*formula) T) T {
	var none T
	for _, part := range f.parts {
		if found := firstIn(part, of); found != none {
			return found
		}
	}
	return of(f)
}

// lower turns a formula of v into one over Vars. Who must not be there has to be known: a bundle is not chosen when that is too dear.
func (b *dependencies) lower(v resolve.Var, f *formula) resolve.Formula {
	switch {
	case f.parts == nil && f.unwanted:
		var unwelcome []resolve.Var
		self := b.node(v)
		for i, n := range b.nodes {
			if n.sub == nil && n.bundle.Package != self.bundle.Package && f.leaf.meets(n) {
				unwelcome = append(unwelcome, resolve.Var(i+1))
			}
		}
		if f.leaf.tooDear() != (dear{}) && self.channel != nil {
			return resolve.Any()
		}
		return resolve.Not(anyOf(unwelcome))
	case f.itself:
		return resolve.All()
	case f.parts == nil:
		return anyOf(f.candidates)
	}
	parts := make([]resolve.Formula, len(f.parts))
	for i, part := range f.parts {
		parts[i] = b.lower(v, part)
	}
	if f.every {
		return resolve.All(parts...)
	}
	return resolve.Any(parts...)
}

func anyOf(vs []resolve.Var) resolve.Formula {
	parts := make([]resolve.Formula, len(vs))
	for i, v := range vs {
		parts[i] = resolve.Lit(v)
	}
	return resolve.Any(parts...)
}
