package resolve

import (
	"cmp"
	"fmt"
	"slices"
)

// The oracle decides small problems without any of the machinery under test: satisfiability by trying every set, the
// preferred answer by walking as the package documentation says, with plain backtracking.

// holdsIn evaluates one constraint for a set of Vars.
func (c *constraint) holdsIn(set map[Var]bool) bool {
	count := 0
	for _, v := range c.others {
		if set[v] {
			count++
		}
	}
	switch c.kind {
	case Mandatory:
		return set[c.subject]
	case Prohibited:
		return !set[c.subject]
	case Dependency:
		return !set[c.subject] || count > 0
	case Compound:
		return !set[c.subject] || c.formula.holdsIn(set)
	default:
		return count <= c.limit
	}
}

func (f Formula) holdsIn(set map[Var]bool) bool {
	switch f.op {
	case opLit:
		return set[f.variable]
	case opNot:
		return !f.parts[0].holdsIn(set)
	case opAll:
		return !slices.ContainsFunc(f.parts, func(g Formula) bool { return !g.holdsIn(set) })
	default:
		return slices.ContainsFunc(f.parts, func(g Formula) bool { return g.holdsIn(set) })
	}
}

func (p *Problem) allows(set map[Var]bool) bool {
	return !slices.ContainsFunc(p.constraints, func(c *constraint) bool { return !c.holdsIn(set) })
}

// tolerates leaves out the clauses that something selected later can still satisfy.
func (p *Problem) tolerates(set map[Var]bool) bool {
	return !slices.ContainsFunc(p.constraints, func(c *constraint) bool {
		return c.kind != Mandatory && c.kind != Dependency && c.kind != Compound && !c.holdsIn(set)
	})
}

// satisfiable tries every set of Vars that has all of with.
func (p *Problem) satisfiable(with ...Var) bool {
	for bits := range 1 << len(p.ids) {
		set := make(map[Var]bool)
		for i := range p.ids {
			set[Var(i+1)] = bits>>i&1 == 1
		}
		if !slices.ContainsFunc(with, func(v Var) bool { return !set[v] }) && p.allows(set) {
			return true
		}
	}
	return false
}

// goal is what the oracle still has to bring about, first things first.
type goal struct {
	formula Formula
	negated bool
	next    *goal
	own     bool // it is a need of a request
	deeper  bool // it is the needs of all that was chosen for requests
}

// stand is what the oracle has chosen: true for selected, false for kept out.
type stand map[Var]bool

func (s stand) with(v Var, in bool) stand {
	out := make(stand, len(s)+1)
	for k, b := range s {
		out[k] = b
	}
	out[v] = in
	return out
}

// holds tells whether f is true already, whatever else will be chosen.
func (s stand) holds(f Formula, negated bool) bool {
	switch all := (f.op == opAll) != negated; {
	case f.op == opLit:
		in, chosen := s[f.variable]
		return chosen && in != negated
	case f.op == opNot:
		return s.holds(f.parts[0], !negated)
	case all:
		return !slices.ContainsFunc(f.parts, func(g Formula) bool { return !s.holds(g, negated) })
	default:
		return slices.ContainsFunc(f.parts, func(g Formula) bool { return s.holds(g, negated) })
	}
}

// needsOf returns the needs of v as formulas, by the number in their Field.
func (p *Problem) needsOf(v Var, own bool, next *goal) *goal {
	var found []*constraint
	for _, c := range p.constraints {
		if c.subject == v && (c.kind == Dependency || c.kind == Compound) {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *constraint) int { return cmp.Compare(fieldNumber(b), fieldNumber(a)) })
	for _, c := range found {
		f := c.formula
		if c.kind == Dependency {
			f = Any()
			for _, v := range c.others {
				f.parts = append(f.parts, Lit(v))
			}
		}
		next = &goal{formula: f, next: next, own: own}
	}
	return next
}

func fieldNumber(c *constraint) (n int) {
	if _, err := fmt.Sscanf(c.origin.Field, "needs[%d]", &n); err != nil {
		panic(err)
	}
	return n
}

// preferred returns the preferred answer in the order of selection, or nil when there is none.
func (p *Problem) preferred() []Var {
	agenda := &goal{deeper: true}
	s := stand{}
	requests := p.Requests()
	for _, v := range slices.Backward(requests) {
		s = s.with(v, true)
		agenda = p.needsOf(v, true, agenda)
	}
	return p.explore(agenda, s, requests)
}

func (p *Problem) explore(g *goal, s stand, selected []Var) []Var {
	if g == nil {
		if p.allows(s) {
			return append([]Var{}, selected...)
		}
		return nil
	}
	f, rest := g.formula, g.next
	if g.deeper {
		for _, v := range slices.Backward(selected[len(p.Requests()):]) {
			rest = p.needsOf(v, false, rest)
		}
		return p.explore(rest, s, selected)
	}
	switch all := (f.op == opAll) != g.negated; {
	case f.op == opNot:
		return p.explore(&goal{formula: f.parts[0], negated: !g.negated, next: rest, own: g.own}, s, selected)
	case f.op == opLit:
		return p.choose(f.variable, !g.negated, g.own, rest, s, selected)
	case all:
		for _, part := range slices.Backward(f.parts) {
			rest = &goal{formula: part, negated: g.negated, next: rest, own: g.own}
		}
		return p.explore(rest, s, selected)
	}
	if s.holds(f, g.negated) {
		return p.explore(rest, s, selected)
	}
	for _, part := range f.parts {
		if answer := p.explore(&goal{formula: part, negated: g.negated, next: rest, own: g.own}, s, selected); answer != nil {
			return answer
		}
	}
	return nil
}

// choose selects v or keeps it out. What v needs is met at once, except when it is chosen for a request.
func (p *Problem) choose(v Var, in, own bool, rest *goal, s stand, selected []Var) []Var {
	if was, chosen := s[v]; chosen {
		if was != in {
			return nil
		}
		return p.explore(rest, s, selected)
	}
	if !in {
		return p.explore(rest, s.with(v, false), selected)
	}
	if s = s.with(v, true); !p.tolerates(s) {
		return nil
	}
	if !own {
		rest = p.needsOf(v, false, rest)
	}
	return p.explore(rest, s, append(selected[:len(selected):len(selected)], v))
}
