package resolve

// holdings tells which literals the walk has committed to: selected variables, absences that were chosen, and the
// auxiliaries whose parts all hold.
type holdings struct {
	literal []bool    // by literal
	stack   []lit     // what holds, in order
	inner   [][]int32 // by literal: the needs of auxiliaries that it is an option of; nil without auxiliaries
	guard   []int32   // by need of an auxiliary: that auxiliary
	met     []int32   // by need of an auxiliary: how many of its options hold
	unmet   []int32   // by auxiliary: how many of its needs are not met
}

func newHoldings(s *solver) holdings {
	h := holdings{literal: make([]bool, 2*len(s.pr.names))}
	var empty []int32
	for v, name := range s.pr.names {
		if name != 0 {
			continue
		}
		// Make room for the first auxiliary.
		if h.inner == nil {
			h.inner = make([][]int32, 2*len(s.pr.names))
			h.guard = make([]int32, len(s.pr.clauses))
			h.met = make([]int32, len(s.pr.clauses))
			h.unmet = make([]int32, len(s.pr.names))
		}
		for _, n := range s.pr.needs[v] {
			h.unmet[v]++
			h.guard[n] = int32(v)
			for _, l := range s.pr.clauses[n].lits[1:] {
				h.inner[l] = append(h.inner[l], n)
			}
		}
		if h.unmet[v] == 0 {
			empty = append(empty, int32(v))
		}
	}
	for _, v := range empty {
		h.add(positive(v))
	}
	return h
}

// add lets l hold, and the auxiliaries that this completes.
func (h *holdings) add(l lit) {
	for fresh := []lit{l}; len(fresh) > 0; {
		l, fresh = fresh[len(fresh)-1], fresh[:len(fresh)-1]
		if h.literal[l] {
			continue
		}
		h.literal[l] = true
		h.stack = append(h.stack, l)
		if h.inner == nil {
			continue
		}
		for _, n := range h.inner[l] {
			if h.met[n]++; h.met[n] > 1 {
				continue
			}
			if h.unmet[h.guard[n]]--; h.unmet[h.guard[n]] == 0 {
				fresh = append(fresh, positive(h.guard[n]))
			}
		}
	}
}

// undo lets only the first n literals hold.
func (h *holdings) undo(n int) {
	for len(h.stack) > n {
		l := h.stack[len(h.stack)-1]
		h.stack = h.stack[:len(h.stack)-1]
		h.literal[l] = false
		if h.inner == nil {
			continue
		}
		for _, m := range h.inner[l] {
			if h.met[m]--; h.met[m] == 0 {
				h.unmet[h.guard[m]]++
			}
		}
	}
}
