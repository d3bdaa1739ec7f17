package resolve

// propagate draws every conclusion from what is assigned, and returns a clause that became false, or none. It stops
// early when the budget is used up; the caller checks the budget.
func (s *solver) propagate() int32 {
	for s.next < len(s.trail) {
		l := s.trail[s.next]
		s.next++
		if !s.b.spend(1) {
			return none
		}
		if conflict := s.visitWatchers(l.not()); conflict != none {
			return conflict
		}
		if !l.negated() {
			if conflict := s.visitBounds(l); conflict != none {
				return conflict
			}
		}
	}
	return none
}

// visitWatchers visits the clauses that watch l, which became false. Those that find another literal to watch leave.
func (s *solver) visitWatchers(l lit) int32 {
	list := s.watches[l]
	kept := list[:0]
	conflict := none
	for i, w := range list {
		if s.value(w.blocker) == isTrue {
			kept = append(kept, w)
			continue
		}
		other, moved := s.moveWatch(w.clause, l)
		if moved {
			continue
		}
		kept = append(kept, watcher{w.clause, other})
		switch s.value(other) {
		case unknown:
			s.assign(other, w.clause)
		case isFalse:
			conflict = w.clause
		}
		if conflict != none {
			kept = append(kept, list[i+1:]...)
			break
		}
	}
	s.watches[l] = kept
	return conflict
}

// moveWatch looks for a literal of clause n to watch in place of the false literal l. It returns the other watched
// literal and whether the clause watches something else now. The search continues from where the last one ended.
func (s *solver) moveWatch(n int32, l lit) (other lit, moved bool) {
	lits, w := s.clauses[n].lits, &s.watched[n]
	mine, its := &w[0], &w[1]
	if lits[*mine] != l {
		mine, its = its, mine
	}
	other = lits[*its]
	if s.value(other) == isTrue {
		return other, false
	}
	for i, k := 1, int(*mine); i < len(lits); i++ {
		if k++; k == len(lits) {
			k = 0
		}
		if k != int(*its) && s.value(lits[k]) != isFalse {
			s.b.spend(i)
			*mine = int32(k)
			s.watches[lits[k]] = append(s.watches[lits[k]], watcher{n, other})
			return other, true
		}
	}
	s.b.spend(len(lits))
	return other, false
}

// visitBounds visits the upper bounds over l, which became true. A bound that is reached makes its other members false.
func (s *solver) visitBounds(l lit) int32 {
	for _, n := range s.bounds[l.variable()] {
		c := &s.clauses[n]
		s.b.spend(len(c.lits))
		count := int32(0)
		for _, m := range c.lits {
			if s.value(m) == isTrue {
				count++
			}
		}
		if count > c.limit {
			return n
		}
		if count < c.limit {
			continue
		}
		for _, m := range c.lits {
			if s.value(m) == unknown {
				s.assign(m.not(), n)
			}
		}
	}
	return none
}

// because returns the literals, all false now, of the disjunction that clause n amounts to: for a conflict (l < 0) the
// whole of it, and for the forced literal l all but l. The result is valid until the next call.
func (s *solver) because(n int32, l lit) []lit {
	c := &s.clauses[n]
	s.scratch = s.scratch[:0]
	if c.limit == 0 {
		for _, m := range c.lits {
			if m != l {
				s.scratch = append(s.scratch, m)
			}
		}
		return s.scratch
	}
	for _, m := range c.lits {
		if s.value(m) == isTrue && (l < 0 || s.place[m.variable()] < s.place[l.variable()]) {
			s.scratch = append(s.scratch, m.not())
		}
	}
	return s.scratch
}
