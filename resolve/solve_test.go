package resolve

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/test/must"
)

// TestPreference holds the rules of the package documentation against small cases that a person can follow.
func TestPreference(t *testing.T) {
	tests := map[string]struct {
		build func(*rules)
		want  string
	}{
		"nothing asked, nothing selected": {build: func(r *rules) { r.need(Origin{}, "a", "b") }, want: ""},
		"requests are visited by id": {
			build: func(r *rules) {
				r.require("b")
				r.require("a")
				r.need(Origin{}, "b", "b2", "b1")
				r.need(Origin{}, "a", "a2", "a1")
				r.Conflict(r.Var("a2"), r.Var("b2"), Origin{})
			},
			want: "a b a2 b1",
		},
		"unless their order is given": {
			build: func(r *rules) {
				r.require("b")
				r.require("a")
				r.need(Origin{}, "b", "b2", "b1")
				r.need(Origin{}, "a", "a2", "a1")
				r.Conflict(r.Var("a2"), r.Var("b2"), Origin{})
				r.Order(r.Var("b"), r.Var("a"), r.Var("b"))
			},
			want: "b a b2 a1",
		},
		"needs are visited by Field, digits as numbers": {
			build: func(r *rules) {
				r.require("a")
				r.need(Origin{Field: "properties[10]"}, "a", "x2", "x1")
				r.need(Origin{Field: "properties[9]"}, "a", "y2", "y1")
				r.Conflict(r.Var("x2"), r.Var("y2"), Origin{})
			},
			want: "a y2 x1",
		},
		"what a request needs comes before what its choices need": {
			build: func(r *rules) {
				r.require("a")
				r.need(Origin{Field: "1"}, "a", "b")
				r.need(Origin{Field: "2"}, "a", "c2", "c1")
				r.need(Origin{}, "b", "d2", "d1")
				r.Conflict(r.Var("c2"), r.Var("d2"), Origin{})
			},
			want: "a b c2 d1",
		},
		"what a later request needs comes before what the choices of an earlier one need": {
			build: func(r *rules) {
				r.require("a")
				r.require("b")
				r.need(Origin{}, "a", "a1")
				r.need(Origin{}, "a1", "b1", "c")
				r.need(Origin{}, "b", "b2", "b1")
				r.Conflict(r.Var("b2"), r.Var("b1"), Origin{})
			},
			want: "a b a1 b2 c",
		},
		"so does the formula of a request, with all its parts": {
			build: func(r *rules) {
				r.require("a")
				r.require("b")
				r.Formula(r.Var("a"), Any(All(Lit(r.Var("x")), Lit(r.Var("y")))), Origin{})
				r.need(Origin{}, "x", "b1", "c")
				r.need(Origin{}, "b", "b2", "b1")
				r.Conflict(r.Var("b2"), r.Var("b1"), Origin{})
			},
			want: "a b x y b2 c",
		},
		"depth first: what the first choice needs comes before the second need": {
			build: func(r *rules) {
				r.require("r")
				r.need(Origin{}, "r", "a")
				r.need(Origin{Field: "1"}, "a", "b")
				r.need(Origin{Field: "2"}, "a", "c2", "c1")
				r.need(Origin{}, "b", "d2", "d1")
				r.Conflict(r.Var("c2"), r.Var("d2"), Origin{})
			},
			want: "r a b d2 c1",
		},
		"what is selected already meets a need": {
			build: func(r *rules) {
				r.require("a")
				r.require("installed")
				r.need(Origin{}, "a", "better", "installed")
			},
			want: "a installed",
		},
		"an early choice is not given up for a later one": {
			build: func(r *rules) {
				r.require("a")
				r.need(Origin{Field: "1"}, "a", "x2", "x1")
				r.need(Origin{Field: "2"}, "a", "y3", "y2", "y1")
				r.need(Origin{Field: "3"}, "a", "z")
				r.Conflict(r.Var("x2"), r.Var("y3"), Origin{})
				r.Conflict(r.Var("y2"), r.Var("z"), Origin{})
			},
			want: "a x2 y1 z",
		},
		"of a formula the first possible alternative, with all its parts": {
			build: func(r *rules) {
				r.require("a")
				lit := func(id string) Formula { return Lit(r.Var(id)) }
				r.Formula(r.Var("a"), Any(All(lit("x"), lit("y")), All(lit("z"), Not(lit("w"))), lit("x")), Origin{})
				r.Forbid(r.Var("y"), Origin{})
			},
			want: "a z",
		},
		"two of three": {
			build: func(r *rules) {
				r.require("a")
				for _, v := range []string{"x", "y", "z"} {
					r.need(Origin{Field: v}, "a", v, "no"+v)
				}
				r.AtMost(2, []Var{r.Var("x"), r.Var("y"), r.Var("z")}, Origin{})
			},
			want: "a x y noz",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var r rules
			tc.build(&r)
			s := must.Value(Solve(context.Background(), &r.Problem, Options{}))(t)
			must.Equal(t, "result", strings.Join(s.IDs(), " "), tc.want)
		})
	}
}

func TestBudget(t *testing.T) {
	p := chainOf(50, 2)
	s, err := Solve(context.Background(), p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = Solve(context.Background(), p, Options{MaxSteps: s.Steps}); err != nil {
		t.Errorf("the steps that it took are not enough: %v", err)
	}
	for limit := 1; limit < s.Steps; limit += 1 + s.Steps/100 {
		_, err = Solve(context.Background(), p, Options{MaxSteps: limit})
		var exceeded *BudgetExceeded
		if !errors.As(err, &exceeded) || exceeded.Limit != limit {
			t.Fatalf("with a budget of %d steps: %v", limit, err)
		}
	}
	if got := len(Components(shared(&Problem{}, 60))); got != 1 {
		t.Errorf("a problem that cannot be split within the budget has %d parts", got)
	}
}

// TestCoreWithoutBudget checks that an answer to whether there is a solution is not lost for want of a minimal reason.
func TestCoreWithoutBudget(t *testing.T) {
	p := pigeons(6)
	unsatisfiable := func(limit int) (*Unsatisfiable, bool) {
		_, err := Solve(context.Background(), p, Options{MaxSteps: limit})
		var none *Unsatisfiable
		return none, errors.As(err, &none)
	}
	whole, ok := unsatisfiable(0)
	if !ok || !whole.Minimal {
		t.Fatalf("without a limit: %v", whole)
	}
	rough := 0
	for limit := 100; limit < whole.Steps; limit += 1 + whole.Steps/100 {
		if none, ok := unsatisfiable(limit); ok && !none.Minimal {
			rough++
		}
	}
	if rough == 0 {
		t.Error("no limit leaves enough for the answer and too little for a minimal reason: the test shows nothing")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Solve(ctx, chainOf(5, 1), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestMisuse(t *testing.T) {
	tests := map[string]func(*Problem){
		"no Var":                func(p *Problem) { p.Require(0, Origin{}) },
		"Var of another":        func(p *Problem) { p.Depends(1, []Var{7}, Origin{}) },
		"conflict with no Var":  func(p *Problem) { p.Conflict(1, 0, Origin{}) },
		"order of no Var":       func(p *Problem) { p.Order(9) },
		"formula of no Var":     func(p *Problem) { p.Formula(1, All(Not(Lit(9))), Origin{}) },
		"negative upper bound":  func(p *Problem) { p.AtMost(-1, []Var{1}, Origin{}) },
		"bound over no Var":     func(p *Problem) { p.AtMostOne([]Var{-1}, Origin{}) },
		"more after the misuse": func(p *Problem) { p.Forbid(3, Origin{}); p.Depends(1, []Var{1, 3}, Origin{}) },
	}
	for name, misuse := range tests {
		t.Run(name, func(t *testing.T) {
			var p Problem
			p.Require(p.Var("a"), Origin{})
			misuse(&p)
			if _, err := Solve(context.Background(), &p, Options{}); err == nil || !strings.Contains(err.Error(), "resolve: ") {
				t.Errorf("got %v", err)
			}
			if parts := Components(&p); len(parts) != 1 {
				t.Errorf("%d parts", len(parts))
			}
		})
	}
}

func TestComponentsStandAlone(t *testing.T) {
	var r rules
	r.require("b")
	r.require("a")
	r.need(Origin{}, "a", "shared", "a1")
	r.need(Origin{}, "b", "b1")
	r.require("c")
	r.need(Origin{}, "c", "c1", "shared")
	r.need(Origin{}, "lonely", "b1")
	parts := Components(&r.Problem)
	if len(parts) != 2 {
		t.Fatalf("%d parts", len(parts))
	}
	var requests [][]string
	for _, part := range parts {
		var ids []string
		for _, v := range part.Requests() {
			ids = append(ids, part.ID(v))
		}
		requests = append(requests, ids)
	}
	must.Equal(t, "requests", requests, [][]string{{"a", "c"}, {"b"}})
	must.Equal(t, "b1 is Var", parts[0].Var("b1"), r.Var("b1"))
	fresh := parts[0].Var("fresh")
	if r.Problem.ID(fresh) != "" || parts[1].ID(fresh) != "" {
		t.Error("what is added to a part shows elsewhere")
	}
}

func TestWhyNot(t *testing.T) {
	var r rules
	r.require("a")
	r.need(Origin{Field: "1"}, "a", "x2", "x1")
	r.need(Origin{Field: "2"}, "a", "y2", "y1", "y0")
	r.Conflict(r.Var("x2"), r.Var("y2"), Origin{Text: "x2 and y2 clash"})
	s := must.Value(Solve(context.Background(), &r.Problem, Options{}))(t)
	tests := map[string]struct {
		selected bool
		decision string
		core     []string
	}{
		"a":       {selected: true},
		"x2":      {selected: true, decision: "1"},
		"x1":      {decision: "1"},
		"y2":      {decision: "2", core: []string{"x2 was chosen earlier, since a needs x2 or x1", "y2 is asked about", "x2 and y2 clash"}},
		"y1":      {selected: true, decision: "2"},
		"y0":      {decision: "2"},
		"unknown": {},
	}
	for id, tc := range tests {
		t.Run(id, func(t *testing.T) {
			got := must.Value(s.WhyNot(context.Background(), r.Var(id), Options{}))(t)
			decision := ""
			if got.Decision != nil {
				decision = got.Decision.Origin.Field
			}
			var core []string
			if got.Core != nil {
				core = texts(got.Core.Core)
			}
			if got.Selected != tc.selected || decision != tc.decision || !cmp.Equal(core, tc.core) {
				t.Errorf("selected: %v, decision: %q, core: %q", got.Selected, decision, core)
			}
		})
	}
}
