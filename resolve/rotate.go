package resolve

import "slices"

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
	tried   []bool    // by variable: it was turned in this rotation, and is not again: rules that share candidates would try them all each time
	spare   []int32   // by clause: how many literals it can still lose, or win if it is an upper bound; it is broken at 0
	gain    []int32   // by clause: what one more true literal adds to that, 1 or -1
	home    []int32   // by clause: its source
	broken  []int32   // by source: how many of its clauses are broken
	count   int       // of broken sources
	sum     int       // of the numbers of broken sources, which is the one that is broken when only one is
}

// turn is a rule that alone is broken, on the way of a rotation, and the variables that could mend it.
type turn struct {
	mend []int32
	next int
	from int32 // the variable that was turned to get here, or -1
}

func newRotation(pr *program, b *budget) *rotation {
	r := &rotation{pr: pr, b: b, needed: make([]bool, len(pr.sources)),
		within: make([][]int32, 2*len(pr.names)), clauses: make([][]int32, len(pr.sources)),
		gain: make([]int32, len(pr.clauses)), home: make([]int32, len(pr.clauses))}
	// Make room for the clauses of every literal in one piece.
	count, total := make([]int32, len(r.within)), 0
	for i := range r.pr.clauses {
		for _, l := range r.pr.clauses[i].lits {
			count[l]++
		}
		total += len(r.pr.clauses[i].lits)
	}
	room := make([]int32, total)
	for l, n := range count {
		r.within[l], room = room[:0:n], room[n:]
	}
	for i := range pr.clauses {
		c := &pr.clauses[i]
		r.home[i], r.gain[i] = c.source, 1
		if c.limit > 0 {
			r.gain[i] = -1
		}
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
	r.answer, r.tried = make([]bool, len(r.pr.names)), make([]bool, len(r.pr.names))
	for v := range r.answer {
		r.answer[v] = s.walk.holds.literal[positive(int32(v))]
	}
	r.spare = make([]int32, len(r.pr.clauses))
	r.broken = make([]int32, len(r.pr.sources))
	r.count, r.sum = 0, 0
	for i := range r.pr.clauses {
		c := &r.pr.clauses[i]
		if c.limit > 0 {
			r.spare[i] = c.limit + 1
		}
		for _, l := range c.lits {
			if r.answer[l.variable()] != l.negated() {
				r.spare[i] += r.gain[i]
			}
		}
		if r.spare[i] <= 0 {
			r.breaks(c.source, 1)
		}
	}
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
		if r.tried[v] {
			continue
		}
		r.tried[v] = true
		r.flip(v)
		if r.count == 1 && !r.needed[r.sum] {
			r.needed[r.sum] = true
			path = append(path, r.turn(int32(r.sum), v))
			continue
		}
		r.flip(v)
	}
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
		r.sum += int(source)
	case r.broken[source] == 0:
		r.count--
		r.sum -= int(source)
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
	for i, l := range [...]lit{gained, lost} {
		change := int32(1 - 2*i)
		for _, n := range r.within[l] {
			before := r.spare[n] <= 0
			r.spare[n] += change * r.gain[n]
			switch after := r.spare[n] <= 0; {
			case after && !before:
				r.breaks(r.home[n], 1)
			case before && !after:
				r.breaks(r.home[n], -1)
			}
		}
	}
}

// turn lists the variables that could mend a source.
func (r *rotation) turn(source, from int32) turn {
	t := turn{from: from}
	for _, n := range r.clauses[source] {
		if r.spare[n] > 0 {
			continue
		}
		t.mend = slices.Grow(t.mend, len(r.pr.clauses[n].lits))
		for _, l := range r.pr.clauses[n].lits {
			if r.pr.clauses[n].limit == 0 || r.answer[l.variable()] {
				t.mend = append(t.mend, int32(l.variable()))
			}
		}
	}
	return t
}
