package clusterobjectset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// life is what happens to the revisions of an extension, each step followed by passes until they rest.
var life = []struct {
	name string
	do   func(w *world) error
}{
	{"revision 1 is made", func(w *world) error { return w.try(lifeOptions(w, 1)) }},
	{"its workload starts", func(w *world) error { w.run("op", true); return nil }},
	{"somebody edits an object", func(w *world) error {
		u := w.get("ConfigMap", "config")
		u.Object["data"] = map[string]any{"key": "theirs"}
		return w.Inner.Update(w.Context(), u)
	}},
	{"the workload fails", func(w *world) error { w.run("op", false); return nil }},
	{"revision 2 is made", func(w *world) error { return w.try(lifeOptions(w, 2)) }},
	{"it is given up", func(w *world) error { return w.Inner.Delete(w.Context(), w.set("ext-2")) }},
	{"revision 3 is made", func(w *world) error { return w.try(lifeOptions(w, 3)) }},
	{"its workload starts", func(w *world) error { w.run("op", true); return nil }},
	{"it is deleted", func(w *world) error { return w.Inner.Delete(w.Context(), w.set("ext-3")) }},
}

func lifeOptions(w *world, n int64) revision.Options {
	value := fmt.Sprint(n)
	return options(n, configMap(w, "config", value), configMap(w, "only-"+value, value), deployment(w, "op", "op:v"+value), service(w, "web"))
}

// try is revise for a manager that may be killed in between.
func (w *world) try(o revision.Options) error {
	r, err := revision.Build(o)
	if err != nil {
		return err
	}
	return revision.Write(w.Context(), w.Server, r)
}

// state is everything that users see: objects, and how sets are.
func (w *world) state() []string {
	out := w.objects()
	for _, name := range w.names() {
		s := w.set(name)
		out = append(out, fmt.Sprintf("%s %s %v %v", name, s.Spec.LifecycleState, s.Finalizers, w.condition(name, "Progressing")),
			w.condition(name, "Available"), w.condition(name, "Succeeded"), fmt.Sprint(s.Status.ObservedPhases))
	}
	return out
}

// TestKilledAtEveryWrite of the life of an extension's revisions, before the cluster has it and before the answer arrives: a new manager
// finishes, and after each step everything is as if nothing had happened.
func TestKilledAtEveryWrite(t *testing.T) {
	whole := newWorld(t)
	var want [][]string
	for _, step := range life {
		must.NoError(t, step.do(whole))
		whole.settle()
		want = append(want, whole.state())
	}
	if last := want[len(want)-1]; len(last) != 4 || !strings.HasPrefix(last[0], "ext-1 Archived") {
		t.Fatalf("the life does not end as it is meant to: %v", last)
	}
	stride := sweep.Of(5, 2, 1) // by day each write is killed either before or after it
	for second, after := range []bool{false, true} {
		for at, reached := 1+second*(stride/2), true; reached; at += stride {
			t.Run(fmt.Sprintf("%d after=%t", at, after), func(t *testing.T) {
				w := newWorld(t)
				defer func() { reached = w.Killed() }()
				w.KillAt(at, after)
				since := 0 // steps that ended well after the kill
				for i, step := range life {
					if since == 2 {
						return // what it did harm to would have been seen
					}
					dead := w.Killed()
					if err := step.do(w); err != nil {
						if dead == w.Killed() {
							t.Fatal(err)
						}
						w.restart()
						must.NoErrorf(t, step.do(w), "%s: it cannot be finished", step.name)
					}
					w.settleOrDie()
					if diff := cmp.Diff(want[i], w.state()); diff != "" {
						t.Fatalf("after %q, with a kill at write %d of %v: %s", step.name, at, w.Writes(), diff)
					}
					if w.Killed() {
						since++
					}
				}
			})
		}
	}
}

// settleOrDie is settle, with a new manager from the moment at which the old one is killed.
func (w *world) settleOrDie() {
	w.Helper()
	for range 40 {
		before, dead := w.Made(), w.Killed()
		for _, name := range w.names() {
			_, _ = w.pass(name)
			if !dead && w.Killed() {
				break
			}
		}
		if dead != w.Killed() {
			w.restart()
		} else if w.Made() == before {
			return
		}
	}
	w.Fatalf("it does not come to rest: %v", w.Writes())
}
