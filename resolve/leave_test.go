package resolve

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatIsLeftOutWasNeverThere leaves out requests and needs, one after the other, of problems that were split before, and demands what
// would be if they had never been stated: the same parts, and for each the same answer, or a core that is minimal.
func TestWhatIsLeftOutWasNeverThere(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 14))
	seen, problems := leavings{}, sample(2000)
	for i := range problems {
		p := packages(rnd)
		if i%2 == 0 {
			p = decode(randomBytes(rnd))
		}
		parts := Components(p)
		for depth := 0; len(parts) > 0 && depth < 8; depth++ {
			part := parts[rnd.IntN(len(parts))]
			less := leaveOne(part, rnd)
			parts = seen.check(t, less)
		}
	}
	if seen.answers < problems/2 || seen.refusals < problems/7 || seen.several < problems/25 || seen.passed < problems/7 || seen.rewritten < problems/20 {
		t.Errorf("the test shows too little: %+v", seen)
	}
}

// leaveOne leaves out a request, or the needs of one field.
func leaveOne(p *Problem, rnd *rand.Rand) *Problem {
	if c := p.constraints[rnd.IntN(len(p.constraints))]; rnd.IntN(3) == 0 && (c.kind == Dependency || c.kind == Compound) {
		return p.Waive(c.subject, c.origin.Field)
	}
	requests := p.Requests()
	return p.Without(requests[rnd.IntN(len(requests))])
}

type leavings struct{ answers, refusals, several, passed, rewritten int }

// check holds a problem against the same one without what is known of it, and returns its parts.
func (seen *leavings) check(t *testing.T, p *Problem) []*Problem {
	t.Helper()
	fresh := &Problem{ids: p.ids, order: p.order, constraints: p.constraints}
	if p.compiled == nil {
		t.Fatal("all is to be compiled again")
	}
	if p.compiled.left != nil {
		seen.passed++
	} else {
		seen.rewritten++
	}
	seen.compare(t, p, fresh)
	parts, want := Components(p), Components(fresh)
	if diff := cmp.Diff(told(want), told(parts)); diff != "" {
		t.Fatalf("other parts (-want +got):\n%s\n%v", diff, fresh)
	}
	for i := range parts {
		seen.compare(t, parts[i], &Problem{ids: p.ids, order: p.order, constraints: want[i].constraints})
	}
	if len(parts) > 1 {
		seen.several++
	}
	return parts
}

// told is what parts consist of.
func told(parts []*Problem) [][]string {
	var all [][]string
	for _, p := range parts {
		var rules []string
		for _, c := range p.constraints {
			rules = append(rules, fmt.Sprintf("%s %s %s", c.kind, c.origin.Field, c.origin.Text))
		}
		slices.Sort(rules)
		all = append(all, rules)
	}
	return all
}

func (seen *leavings) compare(t *testing.T, p, fresh *Problem) {
	t.Helper()
	got, err := Solve(context.Background(), p, Options{})
	want, wantErr := Solve(context.Background(), fresh, Options{})
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("got %v, want %v:\n%v", err, wantErr, fresh)
	}
	var core *Unsatisfiable
	if errors.As(err, &core) {
		seen.refusals++
		seen.checkLeft(t, fresh, core)
		return
	}
	seen.answers++
	if diff := cmp.Diff(want.Selected, got.Selected) + cmp.Diff(want.Decisions, got.Decisions); diff != "" {
		t.Fatalf("another answer (-want +got):\n%s\n%v", diff, fresh)
	}
}

// checkLeft proves that a core is one, and minimal, and that no clause of it names what cannot be had any more.
func (seen *leavings) checkLeft(t *testing.T, p *Problem, u *Unsatisfiable) {
	t.Helper()
	names := texts(u.Core)
	unsolvable := func(names []string) bool {
		_, err := Solve(context.Background(), p.withTexts(names), Options{})
		return err != nil
	}
	if !u.Minimal || !unsolvable(names) {
		t.Fatalf("core %v (minimal: %v) has an answer:\n%v", names, u.Minimal, p)
	}
	for i := range names {
		if unsolvable(slices.Delete(slices.Clone(names), i, i+1)) {
			t.Fatalf("core %v does not need %q:\n%v", names, names[i], p)
		}
	}
	reach := p.Reach()
	for _, c := range u.Core {
		for _, id := range c.Others {
			if v, ok := p.Find(id); ok && c.Kind != Compound && !slices.Contains(reach, v) {
				t.Fatalf("%q names %s, which nothing reaches any more:\n%v", c.Origin.Text, id, p)
			}
		}
	}
}
