package resolve

import (
	"cmp"
	"slices"
)

// rule is a constraint with a subject, on its way into a program.
type rule struct {
	*constraint
	tokens []token
}

// bound is a conflict or an upper bound, restricted to what can be reached.
type bound struct {
	*constraint
	members []int32
}

// compiler turns the part of a problem that its requests reach into a program, breadth first from the requests.
type compiler struct {
	p       *Problem
	b       *budget
	pr      *program
	number  []int32   // by Var: its variable, or -1
	reached []bool    // by variable: it may be selected, so its rules matter
	queue   []int32   // reached variables, in order
	rules   [][]int32 // by Var: the constraints about it
	seen    []int32   // by literal: the clause that last had it, for leaving out repetitions
}

func compile(p *Problem, b *budget) (*program, error) {
	if p.misuse != nil {
		return nil, p.misuse
	}
	if p.compiled != nil {
		return p.compiled, nil
	}
	c := &compiler{p: p, b: b, pr: &program{}, number: make([]int32, len(p.ids)+1), rules: make([][]int32, len(p.ids)+1)}
	for i := range c.number {
		c.number[i] = -1
	}
	for i := range p.constraints {
		if s := p.constraints[i].subject; s != 0 {
			c.rules[s] = append(c.rules[s], int32(i))
		}
	}
	for _, v := range p.Requests() {
		c.reach(v)
	}
	for i := 0; i < len(c.queue); i++ {
		if err := c.expand(c.queue[i]); err != nil {
			return nil, err
		}
	}
	if err := c.addBounds(); err != nil {
		return nil, err
	}
	return c.pr, nil
}

// variable returns the variable of v, numbering it if need be.
func (c *compiler) variable(v Var) int32 {
	if c.number[v] < 0 {
		c.number[v] = c.newVariable(v)
	}
	return c.number[v]
}

func (c *compiler) newVariable(name Var) int32 {
	c.reached = append(c.reached, false)
	c.seen = append(c.seen, -1, -1)
	return c.pr.variable(name)
}

// reach says that v may be selected.
func (c *compiler) reach(v Var) int32 {
	x := c.variable(v)
	if !c.reached[x] {
		c.reached[x] = true
		c.queue = append(c.queue, x)
	}
	return x
}

// expand adds the rules about x in canonical order.
func (c *compiler) expand(x int32) error {
	indices := c.rules[c.pr.names[x]]
	rules := make([]rule, len(indices))
	for i, index := range indices {
		rules[i] = rule{constraint: c.p.constraints[index]}
		if rules[i].kind == Compound {
			tokens, err := c.flatten(rules[i].formula)
			if err != nil {
				return err
			}
			rules[i].tokens = tokens
		}
	}
	slices.SortFunc(rules, c.p.compareRules)
	for _, r := range rules {
		if !c.b.spend(1 + len(r.others) + len(r.tokens)) {
			return c.b.err
		}
		source := c.source(source{rule: r.constraint})
		switch r.kind {
		case Mandatory:
			c.pr.requests = append(c.pr.requests, c.pr.add(clause{lits: []lit{positive(x)}, source: source}))
		case Prohibited:
			c.pr.add(clause{lits: []lit{negative(x)}, source: source})
		case Dependency:
			need := c.pr.addNeed(x, source, len(r.others))
			for _, v := range r.others {
				c.option(need, positive(c.reach(v)))
			}
		case Compound:
			// Return what a formula mentions, in order.
			seen := make(map[int32]bool)
			var vs []Var
			for _, t := range r.tokens {
				if t.op == opLit && !seen[t.variable] {
					seen[t.variable] = true
					vs = append(vs, Var(t.variable))
				}
			}
			c.pr.sources[source].leaves = vs
			c.lower(x, source, r.tokens)
		}
	}
	return nil
}

func (c *compiler) source(s source) int32 {
	c.pr.sources = append(c.pr.sources, s)
	return int32(len(c.pr.sources) - 1)
}

// option adds an option to a need, unless the need has it already or is about its own absence.
func (c *compiler) option(need int32, l lit) {
	cl := &c.pr.clauses[need]
	if c.seen[l] != need && l != cl.lits[0] {
		c.seen[l] = need
		cl.lits = append(cl.lits, l)
	}
}

// addBounds adds the conflicts and upper bounds that more members can be reached of than they allow.
func (c *compiler) addBounds() error {
	var bounds []bound
	for _, k := range c.p.constraints {
		if k.kind == Conflicting || k.kind == Limited {
			// Return the variables of k that can be selected, ascending.
			members := make([]int32, 0, len(k.others))
			for _, v := range k.others {
				if x := c.number[v]; x >= 0 && c.reached[x] {
					members = append(members, x)
				}
			}
			slices.Sort(members)
			if len(members) > k.limit {
				bounds = append(bounds, bound{constraint: k, members: members})
			}
		}
	}
	slices.SortFunc(bounds, func(a, b bound) int {
		return cmp.Or(slices.Compare(a.members, b.members), cmp.Compare(a.limit, b.limit), cmp.Compare(a.kind, b.kind), compareOrigins(a.origin, b.origin))
	})
	for _, b := range bounds {
		if !c.b.spend(1 + len(b.members)) {
			return c.b.err
		}
		lits := make([]lit, len(b.members))
		for i, x := range b.members {
			lits[i] = positive(x)
		}
		s := c.source(source{rule: b.constraint, members: lits})
		switch {
		case b.limit == 0: // each member is impossible
			for _, l := range lits {
				c.pr.add(clause{lits: []lit{l.not()}, source: s})
			}
		case b.limit == 1 && len(lits) == 2:
			c.pr.add(clause{lits: []lit{lits[0].not(), lits[1].not()}, source: s})
		default:
			c.pr.add(clause{lits: lits, limit: int32(b.limit), source: s})
		}
	}
	return nil
}
