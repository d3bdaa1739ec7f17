package resolve

import "slices"

// extraction writes parts of a program as programs of their own.
type extraction struct {
	pr     *program
	starts []bool  // by clause: a request
	first  []int32 // by source: its first clause; they follow one another
	number []int32 // by variable: its new number and 1, or 0
	used   []int   // the variables that have a new number
}

func newExtraction(pr *program) *extraction {
	x := &extraction{pr: pr, starts: make([]bool, len(pr.clauses)), first: make([]int32, len(pr.sources)), number: make([]int32, len(pr.names))}
	for _, n := range pr.requests {
		x.starts[n] = true
	}
	for i := len(pr.clauses) - 1; i >= 0; i-- {
		x.first[pr.clauses[i].source] = int32(i)
	}
	return x
}

// restrict returns the program of the sources to keep alone.
func (pr *program) restrict(keep []bool) *program {
	var sources []int32
	for i := range keep {
		if keep[i] {
			sources = append(sources, int32(i))
		}
	}
	return newExtraction(pr).take(sources)
}

// take returns the program of some sources, with variables and sources numbered again. Sources and clauses keep their order.
func (x *extraction) take(sources []int32) *program {
	slices.Sort(sources)
	small := &program{sources: make([]source, 0, len(sources)), clauses: make([]clause, 0, len(sources))}
	for _, s := range sources {
		to := int32(len(small.sources))
		small.sources = append(small.sources, x.pr.sources[s])
		for i := int(x.first[s]); i < len(x.pr.clauses) && x.pr.clauses[i].source == s; i++ {
			c := x.pr.clauses[i]
			c.lits, c.source = x.rename(small, c.lits, c.limit > 0), to
			n := small.add(c)
			if c.need {
				guard := c.lits[0].variable()
				small.needs[guard] = append(small.needs[guard], n)
			}
			if x.starts[i] {
				small.requests = append(small.requests, n)
			}
		}
	}
	for i := range small.sources { // after the clauses, which number the variables
		if s := &small.sources[i]; s.members != nil {
			s.members = x.rename(small, s.members, true)
		}
	}
	for _, v := range x.used {
		x.number[v] = 0
	}
	x.used = x.used[:0]
	return small
}

// rename writes literals for another program. Of an upper bound, those that no one can reach any more are left out.
func (x *extraction) rename(small *program, lits []lit, bound bool) []lit {
	out := make([]lit, 0, len(lits))
	for _, l := range lits {
		v := l.variable()
		if bound && x.pr.lacks(v) {
			continue
		}
		if x.number[v] == 0 {
			x.number[v] = small.variable(x.pr.names[v]) + 1
			x.used = append(x.used, v)
		}
		out = append(out, positive(x.number[v]-1)|l&1)
	}
	return out
}
