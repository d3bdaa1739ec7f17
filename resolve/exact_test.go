package resolve

import (
	"context"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestRequestsAreVisitedOnce requires a Var more than once: each of its needs is met once.
func TestRequestsAreVisitedOnce(t *testing.T) {
	p := &Problem{}
	a, b := p.Var("a"), p.Var("b")
	p.Require(a, Origin{Text: "one"})
	p.Require(a, Origin{Text: "two"})
	p.Depends(a, []Var{b}, Origin{})
	s := must.Value(Solve(context.Background(), p, Options{}))(t)
	if len(s.Decisions) != 1 || len(s.Selected) != 2 {
		t.Errorf("decisions %v, selected %v", s.Decisions, s.IDs())
	}
}

// TestReasonsOfBounds: what a bound of two leaves no room for follows from the two that were there before it, not from what was chosen
// later, and of more than it allows all are to blame.
func TestReasonsOfBounds(t *testing.T) {
	p := &Problem{}
	vs := []Var{p.Var("a"), p.Var("b"), p.Var("c"), p.Var("d")}
	for _, v := range vs[:2] {
		p.Require(v, Origin{})
	}
	p.Depends(vs[0], vs[2:], Origin{})
	p.AtMost(2, vs[:3], Origin{})
	pr := must.Value(compile(p, newBudget(context.Background(), Options{})))(t)
	s := newSolver(pr, nil, newBudget(context.Background(), Options{}))
	bound := int32(-1)
	for i := range s.clauses {
		if s.clauses[i].limit == 2 {
			bound = int32(i)
		}
	}
	if bound < 0 {
		t.Fatal("the bound was left out")
	}
	lits := s.clauses[bound].lits
	s.assign(lits[0], none)
	s.assign(lits[1], none)
	s.assign(lits[2], none) // as a search does that finds the bound broken
	if got := s.because(bound, lits[1]); len(got) != 1 || got[0] != lits[0].not() {
		t.Errorf("the second follows from %v, want only the first %v", got, lits[0].not())
	}
	if got := s.because(bound, -1); len(got) != 3 {
		t.Errorf("a broken bound is blamed on %v, want all three", got)
	}
}
