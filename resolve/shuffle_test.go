package resolve

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/test/must"
)

// outcome is all that a caller can see of a call to Solve, by ids.
type outcome struct {
	IDs       []string
	Decisions []string
	Steps     int
	Core      []Clause
}

func outcomeOf(t *testing.T, p *Problem) outcome {
	t.Helper()
	s, err := Solve(context.Background(), p, Options{})
	var none *Unsatisfiable
	if errors.As(err, &none) {
		return outcome{Core: none.Core}
	}
	must.NoError(t, err)
	o := outcome{IDs: s.IDs(), Steps: s.Steps}
	for _, d := range s.Decisions {
		line := fmt.Sprintf("%s %+v -> %s reused=%v rejected", p.ID(d.Subject), d.Origin, p.ID(d.Chosen), d.Reused)
		for _, v := range d.Rejected {
			line += " " + p.ID(v)
		}
		o.Decisions = append(o.Decisions, line)
	}
	return o
}

// shuffled returns the same problem with Vars and clauses added in another order.
func (p *Problem) shuffled(rnd *rand.Rand) *Problem {
	q := &Problem{}
	for _, i := range rnd.Perm(len(p.ids)) {
		q.Var(p.ids[i])
	}
	rename := func(vs []Var) []Var {
		out := make([]Var, len(vs))
		for i, v := range vs {
			out[i] = q.Var(p.ID(v))
		}
		return out
	}
	var formula func(Formula) Formula
	formula = func(f Formula) Formula {
		g := Formula{op: f.op}
		if f.op == opLit {
			g.variable = q.Var(p.ID(f.variable))
		}
		for _, part := range f.parts {
			g.parts = append(g.parts, formula(part))
		}
		return g
	}
	q.Order(rename(p.order)...)
	for _, i := range rnd.Perm(len(p.constraints)) {
		c := *p.constraints[i]
		if c.subject != 0 {
			c.subject = q.Var(p.ID(c.subject))
		}
		c.others, c.formula = rename(c.others), formula(c.formula)
		if c.kind == Conflicting || c.kind == Limited {
			rnd.Shuffle(len(c.others), func(i, j int) { c.others[i], c.others[j] = c.others[j], c.others[i] })
		}
		q.constraints = append(q.constraints, &c)
	}
	return q
}

// TestTenThousandShufflesGiveOneAnswer adds what 125 problems are made of in 80 different orders each, no order of a problem twice. In four
// of five problems the clauses have neither fields nor texts of their own, so that many of them tie and only what they say orders them.
func TestTenThousandShufflesGiveOneAnswer(t *testing.T) {
	const problems, orders = 125, 80
	rnd := rand.New(rand.NewPCG(7, 8))
	distinct, answers := 0, 0
	for n := 0; n < problems; {
		p := decode(randomBytes(rnd))
		if n%25 == 0 {
			p = packages(rnd)
		}
		if len(p.ids) < 6 || len(p.constraints) < 6 {
			continue // it has too few orders
		}
		if n%5 != 0 {
			for i := range p.constraints {
				p.constraints[i].origin = Origin{Text: fmt.Sprint(i % 3)}
			}
		}
		n++
		want := outcomeOf(t, p)
		if want.Core == nil {
			answers++
		}
		for seen := map[string]bool{}; len(seen) < orders; {
			q := p.shuffled(rnd)
			order := strings.Join(q.ids, " ")
			if seen[order] {
				continue
			}
			seen[order] = true
			distinct++
			if got := outcomeOf(t, q); !reflect.DeepEqual(want, got) {
				t.Fatalf("the order of insertion shows in the outcome:\n%s\n%v", cmp.Diff(want, got), p)
			}
		}
	}
	if distinct != 10_000 || answers < problems/8 || answers > problems*7/8 {
		t.Errorf("%d orders of problems of which %d have an answer", distinct, answers)
	}
}

func TestUnrelatedClausesChangeNothing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	for range 2000 {
		p := decode(randomBytes(rnd))
		want := outcomeOf(t, p)
		o := Origin{Text: "unrelated"}
		x, y := p.Var("other/x"), p.Var("other/y")
		p.Depends(x, []Var{y, 1}, o)
		p.Depends(y, nil, o)
		p.Forbid(y, o)
		p.Conflict(x, 1, o)
		p.AtMost(0, []Var{x, y}, o)
		p.Formula(x, Not(Lit(2)), o)
		if diff := cmp.Diff(want, outcomeOf(t, p)); diff != "" {
			t.Fatalf("what no request can reach shows in the outcome:\n%s\n%v", diff, p)
		}
	}
}
