package resolve

// walk is the order of decisions: an agenda of needs that starts with those of the requests, and after these grows depth
// first by what is chosen. It can go back to any earlier decision, because the agenda is a list whose nodes never change
// and everything else is a stack.
type walk struct {
	agenda   []item
	head     int32 // the first item, or -1
	holds    holdings
	requests int // how much held at the start: the requests, and what follows from them
	taken    []choice
	marks    []mark // the state before each decision
}

// item is the rest of the needs of one selected variable, and the items after it.
type item struct {
	guard int32 // or deeper
	done  int32 // how many needs of guard are behind us
	next  int32
	own   bool // they are needs of a request: what is chosen for them waits until those of all requests are met
}

// deeper, as the guard of an item, stands for the needs of everything that was chosen for the requests.
const deeper int32 = -1

// choice is how one need was met.
type choice struct {
	need   int32
	option int32 // place among the literals of the need
	reused bool
}

type mark struct {
	head                  int32
	agenda, taken, chosen int
}

func (w *walk) push(i item) {
	w.agenda = append(w.agenda, i)
	w.head = int32(len(w.agenda) - 1)
}

// step meets needs in order until one takes a decision. It returns false when the agenda is empty.
func (s *solver) step() bool {
	w := &s.walk
	for w.head >= 0 {
		it := w.agenda[w.head]
		if it.guard == deeper {
			w := &s.walk
			w.head = it.next
			chosen := w.holds.stack[w.requests:]
			s.b.spend(len(chosen))
			for i := len(chosen) - 1; i >= 0; i-- {
				if v := chosen[i].variable(); !chosen[i].negated() && s.pr.names[v] != 0 && len(s.pr.needs[v]) > 0 {
					w.push(item{guard: int32(v), next: w.head})
				}
			}
			continue
		}
		needs := s.pr.needs[it.guard]
		if int(it.done) == len(needs) {
			w.head = it.next
			continue
		}
		if !s.b.spend(1) {
			return false
		}
		if s.meet(it, needs[it.done]) {
			return true
		}
	}
	return false
}

// meet meets one need and reports whether that took a decision.
func (s *solver) meet(it item, need int32) bool {
	w := &s.walk
	advanced := item{guard: it.guard, done: it.done + 1, next: it.next, own: it.own}
	if s.disabled(need) {
		w.push(advanced)
		return false
	}
	// The option that meets the need: one that holds already, or else the first that is not impossible.
	lits := s.pr.clauses[need].lits
	s.b.spend(len(lits))
	c := choice{need: need}
	for i := 1; i < len(lits); i++ {
		if w.holds.literal[lits[i]] {
			c.option, c.reused = int32(i), true
			break
		}
		if c.option == 0 && s.value(lits[i]) != isFalse {
			c.option = int32(i)
		}
	}
	if c.option == 0 {
		panic("resolve: a need of a selected variable lost all its options without a conflict")
	}
	l := lits[c.option]
	decide := !c.reused && s.value(l) == unknown
	if decide {
		w.marks = append(w.marks, mark{w.head, len(w.agenda), len(w.taken), len(w.holds.stack)})
		s.levels = append(s.levels, int32(len(s.trail)))
		s.assign(l, none)
	}
	w.push(advanced)
	w.taken = append(w.taken, c)
	if !c.reused {
		w.holds.add(l)
		part := s.pr.names[l.variable()] == 0 // of a formula: what it asks for is asked for by who has the formula
		if !l.negated() && len(s.pr.needs[l.variable()]) > 0 && (part || !it.own) {
			w.push(item{guard: int32(l.variable()), next: w.head, own: it.own})
		}
	}
	return decide
}
