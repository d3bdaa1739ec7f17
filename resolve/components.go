package resolve

import "context"

// Components splits p into parts that share no clause, each of which can be solved by itself. Vars keep their numbers
// and ids. What no request can reach is in no part. Parts are ordered by their first request. A problem that is too
// large to be split within the default budget, or that Solve would refuse, is returned whole.
func Components(p *Problem) []*Problem {
	pr, err := compile(p, newBudget(context.Background(), Options{}))
	if err != nil {
		return []*Problem{p}
	}
	joined := pr.join()
	part := make(map[int32]*Problem)
	var roots []int32
	for _, n := range pr.requests {
		if c := &pr.clauses[n]; !pr.passes(c.source) {
			if root := joined.find(int32(c.lits[0].variable())); part[root] == nil {
				part[root] = &Problem{ids: p.ids[:len(p.ids):len(p.ids)], order: p.order[:len(p.order):len(p.order)]}
				roots = append(roots, root)
			}
		}
	}
	// List the sources that are not passed over, by the part that they belong to.
	sources, done := make(map[int32][]int32), make([]bool, len(pr.sources))
	for i := range pr.clauses {
		c := &pr.clauses[i]
		first := pr.member(c)
		if done[c.source] || pr.passes(c.source) || first < 0 {
			continue
		}
		done[c.source] = true
		root := joined.find(first)
		sources[root] = append(sources[root], c.source)
	}
	var x *extraction
	if len(roots) > 1 {
		x = newExtraction(pr)
	}
	parts := make([]*Problem, len(roots))
	for i, root := range roots {
		q := part[root]
		if q.compiled = pr; x != nil {
			q.compiled = x.take(sources[root])
		}
		q.constraints = make([]*constraint, len(sources[root]))
		for j, s := range sources[root] {
			q.constraints[j] = pr.sources[s].rule
		}
		parts[i] = q
	}
	return parts
}

// member is a variable of a clause that can be reached, or -1.
func (pr *program) member(c *clause) int32 {
	for _, l := range c.lits {
		if !pr.lacks(l.variable()) {
			return int32(l.variable())
		}
	}
	return -1
}

// join unites the variables that a clause has in common. What can only be absent joins nothing.
func (pr *program) join() groups {
	selectable := make([]bool, len(pr.names))
	for i := range pr.clauses {
		c := &pr.clauses[i]
		if pr.passes(c.source) {
			continue
		}
		for j, l := range c.lits {
			if (c.need && j == 0 || !l.negated()) && !pr.lacks(l.variable()) {
				selectable[l.variable()] = true
			}
		}
	}
	g := make(groups, len(pr.names))
	for i := range g {
		g[i] = int32(i)
	}
	for i := range pr.clauses {
		c := &pr.clauses[i]
		if pr.passes(c.source) {
			continue
		}
		together := c.lits
		if i == 0 || pr.clauses[i-1].source != c.source { // a bound of zero has a clause for each member
			together = append(c.lits[:len(c.lits):len(c.lits)], pr.sources[c.source].members...)
		}
		x := pr.member(c)
		for _, l := range together {
			if x >= 0 && selectable[l.variable()] {
				g[g.find(int32(l.variable()))] = g.find(x)
			}
		}
	}
	return g
}

// groups is a disjoint-set forest: each variable points towards the representative of its group.
type groups []int32

func (g groups) find(x int32) int32 {
	for g[x] != x {
		g[x] = g[g[x]]
		x = g[x]
	}
	return x
}
