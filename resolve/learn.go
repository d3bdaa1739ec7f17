package resolve

// stepsPerLearned is what one literal or cause of a learned clause costs. It is kept until the search ends, so the
// budget bounds memory through it.
const stepsPerLearned = 4

// analyse resolves the conflict with the reasons of its literals until one literal of the last level is left. That
// literal comes first in the learned clause. The literal of the latest level but one comes second, where it is watched; back is its level.
func (s *solver) analyse(conflict int32) (learned clause, back int) {
	learned = clause{lits: []lit{0}, source: -1}
	now, open := int32(len(s.levels)), 0
	at := len(s.trail)
	n, resolved := conflict, lit(-1)
	for {
		learned.causes = append(learned.causes, n)
		lits := s.because(n, resolved)
		s.b.spend(len(lits))
		for _, m := range lits {
			switch v := m.variable(); {
			case s.seen[v]:
			case s.level[v] == 0:
				s.seen[v] = true
				learned.causes = append(learned.causes, ^int32(v))
			case s.level[v] == now:
				s.seen[v] = true
				open++
			default:
				s.seen[v] = true
				learned.lits = append(learned.lits, m)
			}
		}
		for at--; !s.seen[s.trail[at].variable()]; at-- {
		}
		resolved = s.trail[at]
		s.seen[resolved.variable()] = false
		if open--; open == 0 {
			break
		}
		n = s.reason[resolved.variable()]
	}
	learned.lits[0] = resolved.not()
	// Clear the marks that analyse leaves.
	for _, l := range learned.lits {
		s.seen[l.variable()] = false
	}
	for _, cause := range learned.causes {
		if cause < 0 {
			s.seen[^cause] = false
		}
	}
	lits := learned.lits
	if len(lits) == 1 {
		return learned, 0
	}
	second := 1
	for i := 2; i < len(lits); i++ {
		if s.level[lits[i].variable()] > s.level[lits[second].variable()] {
			second = i
		}
	}
	lits[1], lits[second] = lits[second], lits[1]
	return learned, int(s.level[lits[1].variable()])
}

// blame returns, by source, which ones a conflict without any decision follows from.
func (s *solver) blame(conflict int32) []bool {
	guilty := make([]bool, len(s.pr.sources))
	asked := make([]bool, len(s.clauses))
	queue := []int32{conflict}
	for _, l := range s.because(conflict, -1) {
		queue = append(queue, ^int32(l.variable()))
	}
	for len(queue) > 0 {
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if n < 0 { // a variable that is fixed: by its reason, and what that rests on
			v := ^n
			if s.seen[v] {
				continue
			}
			s.seen[v] = true
			queue = append(queue, s.reason[v])
			for _, l := range s.because(s.reason[v], s.trail[s.place[v]]) {
				queue = append(queue, ^int32(l.variable()))
			}
			continue
		}
		if asked[n] {
			continue
		}
		asked[n] = true
		if c := &s.clauses[n]; c.source >= 0 {
			guilty[c.source] = true
		} else {
			queue = append(queue, c.causes...)
		}
	}
	return guilty
}
