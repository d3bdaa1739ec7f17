package resolve

// truth is the value of a variable or literal.
type truth int8

const (
	unknown truth = 0
	isTrue  truth = 1
	isFalse truth = -1
)

// none is the reason of a decision, and the conflict that is not there.
const none int32 = -1

// solver is the state of one search: the clauses with what was learned, and the trail of what is assigned and why.
type solver struct {
	pr      *program
	b       *budget
	off     []bool      // by source: leave its clauses out; nil keeps all
	clauses []clause    // those of the program, then the learned ones
	watched [][2]int32  // by clause: the places of the two literals it watches
	watches [][]watcher // by literal: the clauses to visit when it becomes false
	bounds  [][]int32   // by variable: the upper bounds it is in
	values  []truth     // by variable
	level   []int32     // by variable: how many decisions there were
	place   []int32     // by variable: its place on the trail
	reason  []int32     // by variable: the clause that forced it, or none
	trail   []lit
	levels  []int32 // the length of the trail before each decision
	next    int     // the first literal on the trail that has not been propagated
	seen    []bool  // by variable: scratch of learn
	scratch []lit   // scratch of because
	walk    walk
}

// watcher is a clause to visit, with a literal of it that makes the visit needless while it is true.
type watcher struct {
	clause  int32
	blocker lit
}

func newSolver(pr *program, off []bool, b *budget) *solver {
	if off == nil && pr.left != nil {
		off = pr.left.sources
	}
	n := len(pr.names)
	s := &solver{
		pr: pr, b: b, off: off,
		clauses: pr.clauses[:len(pr.clauses):len(pr.clauses)],
		watched: make([][2]int32, len(pr.clauses)),
		watches: make([][]watcher, 2*n), bounds: make([][]int32, n),
		values: make([]truth, n), level: make([]int32, n), place: make([]int32, n), reason: make([]int32, n),
		trail: make([]lit, 0, n), seen: make([]bool, n),
	}
	return s
}

// disabled reports whether clause n of the program is left out of this search.
func (s *solver) disabled(n int32) bool { return s.off != nil && s.off[s.pr.clauses[n].source] }

// attach enters every clause of the program, and returns a clause that is false from the start, or none.
func (s *solver) attach() int32 {
	// Make room for the first watchers of every literal in one piece.
	count := make([]int32, len(s.watches))
	total := 0
	for i := range s.clauses {
		if c := &s.clauses[i]; c.limit == 0 && len(c.lits) > 1 && !s.disabled(int32(i)) {
			count[c.lits[0]]++
			count[c.lits[1]]++
			total += 2
		}
	}
	room := make([]watcher, total)
	for l, n := range count {
		s.watches[l], room = room[:0:n], room[n:]
	}
	for i := range s.pr.clauses {
		n := int32(i)
		if s.disabled(n) {
			continue
		}
		switch c := &s.clauses[n]; {
		case c.limit != 0:
			for _, l := range c.lits {
				s.bounds[l.variable()] = append(s.bounds[l.variable()], n)
			}
		case len(c.lits) > 1:
			s.watch(n, 0, 1)
		case s.value(c.lits[0]) == isFalse:
			return n
		case s.value(c.lits[0]) == unknown:
			s.assign(c.lits[0], n)
		}
	}
	return none
}

// watch lets clause n watch its literals at the places i and j.
func (s *solver) watch(n int32, i, j int) {
	lits := s.clauses[n].lits
	s.watched[n] = [2]int32{int32(i), int32(j)}
	s.watches[lits[i]] = append(s.watches[lits[i]], watcher{n, lits[j]})
	s.watches[lits[j]] = append(s.watches[lits[j]], watcher{n, lits[i]})
}

func (s *solver) value(l lit) truth {
	if v := s.values[l.variable()]; l.negated() {
		return -v
	} else {
		return v
	}
}

// assign makes the unknown literal l true.
func (s *solver) assign(l lit, reason int32) {
	v := l.variable()
	s.values[v] = isTrue
	if l.negated() {
		s.values[v] = isFalse
	}
	s.level[v], s.place[v], s.reason[v] = int32(len(s.levels)), int32(len(s.trail)), reason
	s.trail = append(s.trail, l)
}
