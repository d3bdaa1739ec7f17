package resolve

import "slices"

// Unsatisfiable reports that a problem has no answer.
type Unsatisfiable struct {
	// Core is a set of clauses that cannot hold together, ordered as a chain of reasons: a request, what it needs, what
	// that needs and so on, and at last what stands in the way.
	Core []Clause `json:"core"`
	// Minimal says that without any one clause of Core the others can hold together. It is false only when the budget
	// ran out or the context ended while looking for that.
	Minimal bool `json:"minimal"`
	// Steps is the work that was done.
	Steps int `json:"-"`
}

// unsatisfiable makes the error for clauses that cannot hold together, given as a set of guilty sources.
func unsatisfiable(p *Problem, pr *program, guilty []bool, b *budget) *Unsatisfiable {
	small := pr.restrict(guilty)
	off, minimal := small.minimise(b)
	left := 0
	for _, out := range off {
		if !out {
			left++
		}
	}
	// Tell in terms of the caller what the sources stand for.
	core := make([]Clause, 0, left)
	var last *constraint // the dependency that was told last
	var candidates []string
	for i := range small.sources {
		s := &small.sources[i]
		switch r := s.rule; {
		case off[i]:
		case r == nil:
			core = append(core, *s.assumed)
		default:
			c := Clause{Kind: r.kind, Subject: p.ID(r.subject), Limit: r.limit, Origin: r.origin}
			if r.kind == Dependency && (last == nil || !slices.Equal(last.others, r.others)) { // versions that need the same share them
				last, candidates = r, make([]string, 0, len(r.others))
				for _, v := range r.others {
					candidates = append(candidates, p.ID(v))
				}
			}
			if r.kind == Dependency {
				c.Others = candidates[:len(candidates):len(candidates)]
			}
			for _, l := range s.members {
				c.Others = append(c.Others, p.ID(small.names[l.variable()]))
			}
			for _, v := range s.leaves {
				c.Others = append(c.Others, p.ID(v))
			}
			core = append(core, c)
		}
	}
	return &Unsatisfiable{Core: chain(core), Minimal: minimal, Steps: b.used}
}

// minimise turns off sources of a program without answer until each that is left is needed for that. Later sources go
// first, so that what is told starts at the first requests.
func (pr *program) minimise(b *budget) (off []bool, minimal bool) {
	off = make([]bool, len(pr.sources))
	r := newRotation(pr, b)
	for i := len(off) - 1; i >= 0; i-- {
		if off[i] || r.needed[i] {
			continue
		}
		off[i] = true
		s, conflict, err := search(pr, off, b)
		switch {
		case err != nil:
			off[i] = false
			return off, false
		case conflict == none:
			off[i] = false
			r.from(s, off, int32(i))
		default:
			for j, guilty := range s.blame(conflict) {
				off[j] = off[j] || !guilty
			}
		}
	}
	return off, true
}
