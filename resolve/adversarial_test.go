package resolve

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// chainOf makes a chain of n packages, each with some versions that need the next package.
func chainOf(n, versions int) *Problem {
	p := &Problem{}
	request := p.Var("request")
	p.Require(request, Origin{Text: "request"})
	from := []Var{request}
	for i := range n {
		var to []Var
		for j := range versions {
			to = append(to, p.Var(fmt.Sprintf("package%04d.v%02d", i, j)))
		}
		for _, v := range from {
			p.Depends(v, to, Origin{Text: fmt.Sprintf("%s needs package%04d", p.ID(v), i)})
		}
		p.AtMostOne(to, Origin{Text: fmt.Sprintf("one package%04d", i)})
		from = to
	}
	return p
}

// mutual makes n packages of some versions, each of which needs some version of each other package; only the last
// version of a package bears the last version of the next one, so that wishes clash everywhere.
func mutual(n, versions int) *Problem {
	p := &Problem{}
	all := make([][]Var, n)
	for i := range all {
		for j := range versions {
			all[i] = append(all[i], p.Var(fmt.Sprintf("package%03d.v%d", i, j)))
		}
		p.AtMostOne(all[i], Origin{Text: fmt.Sprintf("one package%03d", i)})
		request := p.Var(fmt.Sprintf("request%03d", i))
		p.Require(request, Origin{Text: "request"})
		p.Depends(request, all[i], Origin{Text: "request needs"})
	}
	for i := range all {
		for j, v := range all[i] {
			for k := range all {
				if k != i {
					p.Depends(v, all[k], Origin{Field: fmt.Sprintf("needs[%d]", k), Text: "needs"})
				}
			}
			if next := all[(i+1)%n]; j != versions-1 {
				p.Conflict(v, next[(j+1)%versions], Origin{Text: "clash"})
			}
		}
	}
	return p
}

// pigeons asks for one of n-1 holes for each of n pigeons: hard for every search that learns clauses.
func pigeons(n int) *Problem {
	p := &Problem{}
	holes := make([][]Var, n-1)
	for i := range n {
		pigeon := p.Var(fmt.Sprintf("pigeon%02d", i))
		p.Require(pigeon, Origin{Text: fmt.Sprintf("pigeon %d", i)})
		var places []Var
		for j := range holes {
			v := p.Var(fmt.Sprintf("pigeon%02d in hole%02d", i, j))
			holes[j] = append(holes[j], v)
			places = append(places, v)
		}
		p.Depends(pigeon, places, Origin{Text: fmt.Sprintf("pigeon %d needs a hole", i)})
	}
	for j, vs := range holes {
		p.AtMostOne(vs, Origin{Text: fmt.Sprintf("hole %d is narrow", j)})
	}
	return p
}

// nested makes a formula of the given depth in which All, Any and Not alternate.
func nested(p *Problem, depth int) *Problem {
	request, x := p.Var("request"), p.Var("x")
	f := Lit(x)
	for i := range depth {
		leaf := Lit(p.Var(fmt.Sprintf("leaf%d", i%50)))
		switch i % 3 {
		case 0:
			f = All(Not(leaf), f)
		case 1:
			f = Any(f, leaf)
		default:
			f = Not(Not(f))
		}
	}
	p.Require(request, Origin{Text: "request"})
	p.Formula(request, f, Origin{Text: "deep"})
	return p
}

// shared makes a formula that is small in memory and has 2^depth leaves.
func shared(p *Problem, depth int) *Problem {
	request := p.Var("request")
	f := Lit(p.Var("x"))
	for range depth {
		f = All(f, Any(f, Not(f)))
	}
	p.Require(request, Origin{Text: "request"})
	p.Formula(request, f, Origin{Text: "shared"})
	return p
}

func TestAdversarialProblemsEndInsideTheBudget(t *testing.T) {
	tests := map[string]struct {
		problem *Problem
		want    string // answer, none or budget
	}{
		"chain of 1000 packages":               {chainOf(1000, 5), "answer"},
		"200 mutually dependent packages":      {mutual(200, 3), "answer"},
		"6 pigeons in 5 holes":                 {pigeons(6), "none"},
		"30 pigeons in 29 holes":               {pigeons(30), "budget"},
		"formula of depth 100,000":             {nested(&Problem{}, 100_000), "answer"},
		"formula of depth 100,000, impossible": {leafless(nested(&Problem{}, 100_000)), "none"},
		"formula with 2^60 leaves":             {shared(&Problem{}, 60), "budget"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			s, err := Solve(context.Background(), tc.problem, Options{MaxSteps: 10_000_000})
			var none *Unsatisfiable
			var budget *BudgetExceeded
			got := fmt.Sprint("error ", err)
			switch {
			case err == nil:
				got = "answer"
			case errors.As(err, &none):
				got = "none"
			case errors.As(err, &budget):
				got = "budget"
			}
			must.Equal(t, "result", got, tc.want)
			t.Logf("%v, %d steps", time.Since(start), s.Steps)
		})
	}
}

// leafless forbids all that a formula could choose.
func leafless(p *Problem) *Problem {
	for v := Var(2); int(v) <= len(p.ids); v++ {
		p.Forbid(v, Origin{Text: p.ID(v) + " is out"})
	}
	return p
}

// TestCostIsLinear counts steps, which are the same on every machine.
func TestCostIsLinear(t *testing.T) {
	steps := func(n int) float64 {
		return float64(must.Value(Solve(context.Background(), staircase(n), Options{}))(t).Steps) / float64(n)
	}
	small, large := steps(100), steps(10_000)
	if large > 1.1*small {
		t.Errorf("%.1f steps a candidate among 100 candidates, %.1f among 10,000", small, large)
	}
}
