package resolve

import "slices"

// Solution is the preferred answer of a problem.
type Solution struct {
	// Selected holds the answer in the order in which it was found: the requests first, then what they need, then
	// what that needs, depth first.
	Selected []Var
	// Decisions tell how each need was met, in the order in which they were visited.
	Decisions []Decision
	// Steps is the work that was done.
	Steps int

	p     *Problem
	pr    *program
	taken []choice // by decision
}

// Decision tells how one need was met.
type Decision struct {
	Subject  Var    // what has the need
	Origin   Origin // where the need comes from
	Chosen   Var    // what meets it; zero when that is an absence or a part of a formula
	Reused   bool   // what meets it was selected before
	Rejected []Var  // what is wanted more than Chosen but cannot be had together with everything chosen before
}

// IDs returns the ids of Selected, in the same order.
func (s *Solution) IDs() []string {
	ids := make([]string, len(s.Selected))
	for i, v := range s.Selected {
		ids[i] = s.p.ID(v)
	}
	return ids
}

func (s *solver) decision(c choice) Decision {
	need := &s.pr.clauses[c.need]
	rule := s.pr.sources[need.source].rule
	d := Decision{Subject: rule.subject, Origin: rule.origin, Reused: c.reused}
	if l := need.lits[c.option]; !l.negated() {
		d.Chosen = s.pr.names[l.variable()]
	}
	if c.reused {
		return d
	}
	for _, l := range need.lits[1:c.option] {
		if name := s.pr.names[l.variable()]; name != 0 && !l.negated() {
			d.Rejected = append(d.Rejected, name)
		}
	}
	return d
}

// description tells in terms of the caller what sources stand for.
type description struct {
	p      *Problem
	pr     *program
	last   *constraint // the dependency that was described last
	others []string    // and its candidates; versions that need the same share them
}

// of returns the clause that a source stands for.
func (d *description) of(source int32) Clause {
	s := &d.pr.sources[source]
	if s.rule == nil {
		return *s.assumed
	}
	r := s.rule
	c := Clause{Kind: r.kind, Subject: d.p.ID(r.subject), Limit: r.limit, Origin: r.origin}
	switch r.kind {
	case Dependency:
		if d.last == nil || !slices.Equal(d.last.others, r.others) {
			d.last, d.others = r, make([]string, 0, len(r.others))
			for _, v := range r.others {
				d.others = append(d.others, d.p.ID(v))
			}
		}
		c.Others = d.others[:len(d.others):len(d.others)]
	case Conflicting, Limited:
		for _, l := range s.members {
			c.Others = append(c.Others, d.p.ID(d.pr.names[l.variable()]))
		}
	case Compound:
		for _, v := range s.leaves {
			c.Others = append(c.Others, d.p.ID(v))
		}
	}
	return c
}
