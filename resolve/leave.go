package resolve

// absent is what was left out of a program after it was compiled. Its clauses stay where they are and are passed over, which costs less
// than to compile again what is left.
type absent struct {
	sources   []bool
	variables []bool // what no request reaches any more
}

// passes tells whether a source is passed over.
func (pr *program) passes(source int32) bool { return pr.left != nil && pr.left.sources[source] }

// lacks tells whether no request reaches a variable any more.
func (pr *program) lacks(v int) bool { return pr.left != nil && pr.left.variables[v] }

// leave returns the program without the rules that are out, and without what can only be reached through them. Variables and clauses keep
// their order. It is written again once most of it is passed over, so that leaving out one thing after another stays cheap.
func (pr *program) leave(out func(*constraint) bool) *program {
	off := make([]bool, len(pr.sources))
	if pr.left != nil {
		copy(off, pr.left.sources)
	}
	for i := range pr.sources {
		rule := pr.sources[i].rule
		off[i] = off[i] || rule != nil && out(rule)
	}
	reached := pr.reach(off)
	// The sources that say something about what is reached: about a subject that is, or about more members than may be had.
	live, count := make([]bool, len(pr.sources)), 0
	for i := range pr.sources {
		if s := &pr.sources[i]; s.members != nil {
			members := 0
			for _, l := range s.members {
				if reached[l.variable()] {
					members++
				}
			}
			live[i] = !off[i] && members > s.rule.limit
		}
	}
	for i := range pr.clauses {
		if c := &pr.clauses[i]; pr.sources[c.source].members == nil && !off[c.source] && reached[c.lits[0].variable()] {
			live[c.source] = true
		}
	}
	rest := *pr
	rest.left = &absent{make([]bool, len(live)), make([]bool, len(reached))}
	for v := range reached {
		rest.left.variables[v] = !reached[v]
	}
	for i, is := range live {
		rest.left.sources[i] = !is
		if is {
			count++
		}
	}
	if 2*count < len(live) {
		return rest.restrict(live)
	}
	return &rest
}

// reach tells, by variable, what may be selected while some sources are off.
func (pr *program) reach(off []bool) []bool {
	reached := make([]bool, len(pr.names))
	var queue []int32
	visit := func(l lit) {
		if v := l.variable(); !l.negated() && !reached[v] {
			reached[v] = true
			queue = append(queue, int32(v))
		}
	}
	for _, n := range pr.requests {
		if c := &pr.clauses[n]; !off[c.source] {
			visit(c.lits[0])
		}
	}
	for len(queue) > 0 {
		v := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, n := range pr.needs[v] {
			if c := &pr.clauses[n]; !off[c.source] {
				for _, l := range c.lits[1:] {
					visit(l)
				}
			}
		}
	}
	return reached
}
