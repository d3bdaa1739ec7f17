package resolve

import (
	"cmp"
	"context"
	"slices"
)

// Requests returns the mandatory Vars in the order in which they are visited.
func (p *Problem) Requests() []Var {
	seen := make(map[Var]bool)
	var vs []Var
	for _, c := range p.constraints {
		if c.kind == Mandatory && !seen[c.subject] {
			seen[c.subject] = true
			vs = append(vs, c.subject)
		}
	}
	// Sort requests: those named by Order first, the others by id.
	rank := make(map[Var]int, len(p.order))
	for i, v := range p.order {
		if _, known := rank[v]; !known {
			rank[v] = i - len(p.order) // negative, so that it sorts before the zero of unnamed ones
		}
	}
	slices.SortFunc(vs, func(a, b Var) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), cmp.Compare(p.ids[a-1], p.ids[b-1]))
	})
	return vs
}

// Without returns the problem without the given requests; what only they asked for is not reached any more. Rules that
// are added to one of the two afterwards are not in the other.
func (p *Problem) Without(requests ...Var) *Problem {
	return p.leave(func(c *constraint) bool { return c.kind == Mandatory && slices.Contains(requests, c.subject) })
}

// Waive returns the problem without the needs of v whose origins have a Field.
func (p *Problem) Waive(v Var, field string) *Problem {
	return p.leave(func(c *constraint) bool {
		return c.subject == v && (c.kind == Dependency || c.kind == Compound) && c.origin.Field == field
	})
}

// leave returns the problem without some constraints.
func (p *Problem) leave(out func(*constraint) bool) *Problem {
	q := &Problem{ids: p.ids[:len(p.ids):len(p.ids)], order: p.order[:len(p.order):len(p.order)], misuse: p.misuse}
	q.constraints = make([]*constraint, 0, len(p.constraints))
	for _, c := range p.constraints {
		if !out(c) {
			q.constraints = append(q.constraints, c)
		}
	}
	if p.compiled != nil {
		q.compiled = p.compiled.leave(out)
	}
	return q
}

// Reach returns, ascending, the Vars that the requests can reach: those that an answer may contain, and those that it
// must not. It is all Vars when the problem is too large to tell within the default budget, or one that Solve would refuse.
func (p *Problem) Reach() []Var {
	pr, err := compile(p, newBudget(context.Background(), Options{}))
	var vs []Var
	if err != nil {
		for i := range p.ids {
			vs = append(vs, Var(i+1))
		}
		return vs
	}
	for _, v := range pr.names {
		if v != 0 {
			vs = append(vs, v)
		}
	}
	slices.Sort(vs)
	return vs
}
