package resolve

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestExcluded tells what is impossible at all from what only goes against choices that were made before.
func TestExcluded(t *testing.T) {
	r := &rules{}
	r.require("a")
	r.require("b")
	r.need(Origin{Field: "1"}, "a", "x", "y")
	r.need(Origin{Field: "1"}, "b", "z.new", "z.banned", "z.old")
	r.Forbid(r.Var("z.banned"), Origin{Text: "z.banned is banned"})
	r.Conflict(r.Var("x"), r.Var("z.new"), Origin{Text: "x goes not with z.new"})
	solution := must.Value(Solve(t.Context(), &r.Problem, Options{}))(t)
	at := -1
	for i, d := range solution.Decisions {
		if d.Subject == r.Var("b") {
			at = i
		}
	}
	if at < 0 || solution.Decisions[at].Chosen != r.Var("z.old") {
		t.Fatalf("decisions: %+v", solution.Decisions)
	}
	for name, want := range map[string]struct{ excluded, obstacle string }{
		"z.new":    {"", "x was chosen earlier"},
		"z.banned": {"z.banned is banned", "z.banned is banned"},
	} {
		core, err := solution.Excluded(t.Context(), at, r.Var(name), Options{})
		if err != nil || (core == nil) != (want.excluded == "") || core != nil && !strings.Contains(core.Error(), want.excluded) {
			t.Errorf("%s: excluded by %v (%v), want %q", name, core, err, want.excluded)
		}
		core, err = solution.Obstacle(t.Context(), at, r.Var(name), Options{})
		if err != nil || core == nil || !strings.Contains(core.Error(), want.obstacle) {
			t.Errorf("%s: the obstacle is %v (%v), want %q", name, core, err, want.obstacle)
		}
	}
}
