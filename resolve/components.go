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
	var parts []*Problem
	for x := range p.Requests() { // requests have the first numbers
		if root := joined.find(int32(x)); part[root] == nil {
			part[root] = &Problem{ids: p.ids[:len(p.ids):len(p.ids)], order: p.order[:len(p.order):len(p.order)]}
			parts = append(parts, part[root])
		}
	}
	done := make([]bool, len(pr.sources))
	for i := range pr.clauses {
		c := &pr.clauses[i]
		if done[c.source] {
			continue
		}
		done[c.source] = true
		q := part[joined.find(int32(c.lits[0].variable()))]
		q.constraints = append(q.constraints, p.constraints[pr.sources[c.source].rule])
	}
	return parts
}

// join unites the variables that a clause has in common. What can only be absent joins nothing.
func (pr *program) join() groups {
	selectable := make([]bool, len(pr.names))
	for i := range pr.clauses {
		c := &pr.clauses[i]
		for j, l := range c.lits {
			if c.need && j == 0 || !l.negated() {
				selectable[l.variable()] = true
			}
		}
	}
	g := make(groups, len(pr.names))
	for i := range g {
		g[i] = int32(i)
	}
	for i := range pr.clauses {
		lits := pr.clauses[i].lits
		for _, l := range lits[1:] {
			if selectable[l.variable()] {
				g[g.find(int32(l.variable()))] = g.find(int32(lits[0].variable()))
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
