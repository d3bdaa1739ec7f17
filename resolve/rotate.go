package resolve

// rotation finds more rules that a core cannot do without, given one: from an answer that breaks only that rule, another one that breaks
// only some other rule is often one step away, and a search for each of them is saved.
type rotation struct {
	pr      *program
	b       *budget
	off     []bool    // by source: not part of the core any more
	needed  []bool    // by source: proven to be necessary
	within  [][]int32 // by literal: the clauses that it is in
	clauses [][]int32 // by source
	answer  []bool    // by variable
	holding []int32   // by clause: how many of its literals are true
	broken  []int32   // by source: how many of its clauses are broken
	count   int       // of broken sources
}

// turn is a rule that alone is broken, on the way of a rotation, and the variables that could mend it.
type turn struct {
	mend []int32
	next int
	from int32 // the variable that was turned to get here, or -1
}

func newRotation(pr *program, b *budget) *rotation {
	r := &rotation{pr: pr, b: b, needed: make([]bool, len(pr.sources)),
		within: make([][]int32, 2*len(pr.names)), clauses: make([][]int32, len(pr.sources))}
	for i := range pr.clauses {
		c := &pr.clauses[i]
		r.clauses[c.source] = append(r.clauses[c.source], int32(i))
		for _, l := range c.lits {
			r.within[l] = append(r.within[l], int32(i))
		}
	}
	return r
}

// from rotates an answer that s found with all but one source.
func (r *rotation) from(s *solver, off []bool, source int32) {
	r.off = off
	r.start(s)
	r.needed[source] = true
	if r.count != 1 || r.broken[source] == 0 {
		return
	}
	for path := []turn{r.turn(source, -1)}; len(path) > 0; {
		top := &path[len(path)-1]
		if top.next == len(top.mend) || !r.b.spend(1) {
			if top.from >= 0 {
				r.flip(top.from)
			}
			path = path[:len(path)-1]
			continue
		}
		v := top.mend[top.next]
		top.next++
		r.flip(v)
		if only := r.only(v); only >= 0 && !r.needed[only] {
			r.needed[only] = true
			path = append(path, r.turn(only, v))
			continue
		}
		r.flip(v)
	}
}

func (r *rotation) start(s *solver) {
	r.answer = make([]bool, len(r.pr.names))
	for v := range r.answer {
		r.answer[v] = s.walk.holds.literal[positive(int32(v))]
	}
	r.holding = make([]int32, len(r.pr.clauses))
	r.broken = make([]int32, len(r.pr.sources))
	r.count = 0
	for i := range r.pr.clauses {
		c := &r.pr.clauses[i]
		for _, l := range c.lits {
			if r.answer[l.variable()] != l.negated() {
				r.holding[i]++
			}
		}
		if r.isBroken(int32(i)) {
			r.breaks(c.source, 1)
		}
	}
}

// isBroken tells whether a clause is false in the answer.
func (r *rotation) isBroken(n int32) bool {
	if limit := r.pr.clauses[n].limit; limit > 0 {
		return r.holding[n] > limit
	}
	return r.holding[n] == 0
}

// breaks counts clauses of a source that become broken, or whole again.
func (r *rotation) breaks(source, n int32) {
	if r.off[source] {
		return
	}
	before := r.broken[source]
	r.broken[source] += n
	switch {
	case before == 0:
		r.count++
	case r.broken[source] == 0:
		r.count--
	}
}

// flip turns one variable of the answer.
func (r *rotation) flip(v int32) {
	gained, lost := positive(v), negative(v)
	if r.answer[v] {
		gained, lost = lost, gained
	}
	r.answer[v] = !r.answer[v]
	r.b.spend(len(r.within[gained]) + len(r.within[lost]))
	for _, n := range r.within[gained] {
		r.recount(n, 1)
	}
	for _, n := range r.within[lost] {
		r.recount(n, -1)
	}
}

func (r *rotation) recount(clause, change int32) {
	before := r.isBroken(clause)
	r.holding[clause] += change
	switch after := r.isBroken(clause); {
	case after && !before:
		r.breaks(r.pr.clauses[clause].source, 1)
	case before && !after:
		r.breaks(r.pr.clauses[clause].source, -1)
	}
}

// only returns the source that alone is broken after v was turned, or -1.
func (r *rotation) only(v int32) int32 {
	if r.count != 1 {
		return -1
	}
	for _, l := range []lit{positive(v), negative(v)} {
		for _, n := range r.within[l] {
			if source := r.pr.clauses[n].source; r.broken[source] > 0 {
				return source
			}
		}
	}
	return -1
}

// turn lists the variables that could mend a source.
func (r *rotation) turn(source, from int32) turn {
	t := turn{from: from}
	for _, n := range r.clauses[source] {
		if !r.isBroken(n) {
			continue
		}
		for _, l := range r.pr.clauses[n].lits {
			if r.pr.clauses[n].limit == 0 || r.answer[l.variable()] {
				t.mend = append(t.mend, int32(l.variable()))
			}
		}
	}
	return t
}
