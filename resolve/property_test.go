package resolve

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/sweep"

	"github.com/google/go-cmp/cmp"
)

// checkAgainstOracle holds Solve, its cores and WhyNot against brute force.
func checkAgainstOracle(t *testing.T, p *Problem) {
	t.Helper()
	solution, err := Solve(context.Background(), p, Options{})
	var none *Unsatisfiable
	switch {
	case errors.As(err, &none):
		if p.satisfiable() {
			t.Fatalf("no solution, but there is one:\n%v", p)
		}
		// Prove that the clauses of a core exclude each other, and that all but any one do not.
		names := texts(none.Core)
		if !none.Minimal || p.withTexts(names).satisfiable() {
			t.Fatalf("core %v (minimal: %v) has an answer:\n%v", names, none.Minimal, p)
		}
		for i := range names {
			if !p.withTexts(slices.Delete(slices.Clone(names), i, i+1)).satisfiable() {
				t.Fatalf("core %v does not need %q:\n%v", names, names[i], p)
			}
		}
		if lines := strings.Count(none.Error(), "\n") + 1; lines > 8 {
			t.Fatalf("%d lines of explanation:\n%s", lines, none.Error())
		}
	case err != nil:
		t.Fatal(err)
	default:
		if diff := cmp.Diff(p.preferred(), solution.Selected); diff != "" {
			t.Fatalf("not the preferred answer (-want +got):\n%s\n%v", diff, p)
		}
		// Prove for every Var what WhyNot says of it.
		s := &solution
		for i := range p.ids {
			v := Var(i + 1)
			verdict, err := s.WhyNot(context.Background(), v, Options{})
			if err != nil {
				t.Fatalf("WhyNot(%s): %v\n%v", p.ID(v), err, p)
			}
			rejected := slices.ContainsFunc(s.Decisions, func(d Decision) bool { return slices.Contains(d.Rejected, v) })
			selected := slices.Contains(s.Selected, v)
			if verdict.Selected != selected || (verdict.Core != nil) != (rejected && !selected) {
				t.Fatalf("WhyNot(%s) is %+v, but selected: %v, rejected: %v\n%v", p.ID(v), verdict, selected, rejected, p)
			}
			if verdict.Core != nil {
				checkRejection(t, p, v, verdict)
			}
		}
	}
}

// checkRejection proves that the core of a verdict has no answer, and is minimal where its assumptions can be expressed.
func checkRejection(t *testing.T, p *Problem, v Var, verdict Verdict) {
	t.Helper()
	whole := p.withTexts(texts(verdict.Core.Core))
	for _, c := range verdict.Core.Core {
		switch {
		case c.Kind != Assumed:
		case c.Subject == "":
			return // a choice between parts of a formula has no Var
		case strings.Contains(c.Origin.Text, "left out"):
			whole.Forbid(p.Var(c.Subject), c.Origin)
		default:
			whole.Require(p.Var(c.Subject), c.Origin)
		}
	}
	if whole.satisfiable(v) {
		t.Fatalf("%s was rejected because of %v, which allow it:\n%v", p.ID(v), texts(verdict.Core.Core), p)
	}
	for i := range whole.constraints {
		rest := &Problem{ids: p.ids, constraints: slices.Delete(slices.Clone(whole.constraints), i, i+1)}
		if !rest.satisfiable() {
			t.Fatalf("%s: core %v is not minimal:\n%v", p.ID(v), texts(verdict.Core.Core), p)
		}
	}
}

func randomBytes(rnd *rand.Rand) []byte {
	data := make([]byte, 8+rnd.IntN(160))
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	return data
}

// sample is how many problems an expensive property is tried on: all of them with FAIRLEAD_TEST_SWEEP, else a fifth.
func sample(all int) int { return sweep.Of(all/5, all/5, all) }

func TestAgreesWithBruteForce(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	count := 4000
	if testing.Short() {
		count = 400
	}
	for range count {
		checkAgainstOracle(t, decode(randomBytes(rnd)))
	}
}

// TestPreferredAmongPackages is about problems that are too large for trying all sets, and hard enough for the search to
// go back over several decisions. The walk of the oracle tries everything that it may, so it decides satisfiability.
func TestPreferredAmongPackages(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	answers, refusals, problems := 0, 0, sample(3000)
	for range problems {
		p := packages(rnd)
		want := p.preferred()
		solution, err := Solve(context.Background(), p, Options{})
		if diff := cmp.Diff(want, solution.Selected); diff != "" {
			t.Fatalf("not the preferred answer (-want +got), %v:\n%s\n%v", err, diff, p)
		}
		var none *Unsatisfiable
		if !errors.As(err, &none) {
			answers++
			continue
		}
		refusals++
		names := texts(none.Core)
		if p.withTexts(names).preferred() != nil {
			t.Fatalf("core %v has an answer:\n%v", names, p)
		}
		for i := range names {
			if p.withTexts(slices.Delete(slices.Clone(names), i, i+1)).preferred() == nil {
				t.Fatalf("core %v does not need %q:\n%v", names, names[i], p)
			}
		}
	}
	if answers < problems/6 || refusals < problems/6 {
		t.Errorf("%d answers and %d refusals: the test shows too little", answers, refusals)
	}
}

func TestComponentsSolveToTheSameAnswer(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	several := 0
	for range 3000 {
		p := decode(randomBytes(rnd))
		whole, wholeErr := Solve(context.Background(), p, Options{})
		var union []Var
		var failed error
		parts := Components(p)
		for _, part := range parts {
			s, err := Solve(context.Background(), part, Options{})
			failed = errors.Join(failed, err)
			union = append(union, s.Selected...)
		}
		if (wholeErr == nil) != (failed == nil) {
			t.Fatalf("the whole says %v, the parts %v:\n%v", wholeErr, failed, p)
		}
		if wholeErr != nil {
			continue
		}
		slices.Sort(union)
		slices.Sort(whole.Selected)
		if diff := cmp.Diff(whole.Selected, union); diff != "" {
			t.Fatalf("whole and parts differ:\n%s\n%v", diff, p)
		}
		if len(parts) > 1 {
			several++
		}
	}
	if several < 100 {
		t.Errorf("only %d problems had several parts: the test shows too little", several)
	}
}

func FuzzSolve(f *testing.F) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 16 {
		f.Add(randomBytes(rnd))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p := decode(data)
		checkAgainstOracle(t, p)
		if diff := cmp.Diff(outcomeOf(t, p), outcomeOf(t, p.shuffled(rnd))); diff != "" {
			t.Fatalf("the order of insertion shows in the outcome:\n%s\n%v", diff, p)
		}
	})
}
