package resolve

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
