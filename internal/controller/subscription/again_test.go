package subscription

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestFailedPlansAreRepeatedLessAndLess until something is different.
func TestFailedPlansAreRepeatedLessAndLess(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	failAndWait := func(pause time.Duration) {
		t.Helper()
		before := w.newestPlan()
		w.fail(before)
		due := w.Clock.Now().Add(pause).UTC().Format(time.RFC3339)
		w.Clock.Step(pause - time.Second)
		w.mustReconcile()
		if p := w.newestPlan(); p.Name != before.Name {
			t.Fatalf("the plan was repeated in less than %s", pause)
		}
		must.Contain(t, "Subscription", w.subscription("a").Status.GetCondition(readyCondition).Message, "it is tried again at "+due+", or at once when you delete it")
		w.Clock.Step(2 * time.Second)
		w.mustReconcile()
		if p := w.newestPlan(); p.Name == before.Name {
			t.Fatalf("the plan was not repeated after %s", pause)
		}
	}
	for _, minutes := range []time.Duration{5, 10, 20, 40, 60, 60, 60} {
		failAndWait(minutes * time.Minute)
	}
	w.fail(w.newestPlan())
	w.serve("cat", pkg("a", "A", "", "1.0.0", "1.0.1"))
	w.mustReconcile()
	if p := w.newestPlan(); p.Spec.ClusterServiceVersionNames[0] != "a.v1.0.1" {
		t.Fatalf("the newer version is not planned: %v", p.Spec.ClusterServiceVersionNames)
	}
	failAndWait(5 * time.Minute)
	obstacle := w.newestPlan()
	w.fail(obstacle)
	obstacle.Annotations[v1alpha1.RetryAnnotation] = "Service ns/web has changed"
	must.NoError(t, w.client.Update(t.Context(), obstacle))
	w.mustReconcile()
	if p := w.newestPlan(); p.Name == obstacle.Name || p.Annotations[v1alpha1.RetryAnnotation] != "" {
		t.Fatal("the plan was not repeated when what it failed on had changed")
	}
	failAndWait(5 * time.Minute)
}

// TestObjectsThatChangeAllTheTime let a plan be repeated early each time that it fails on them. The first time that is at once; then they do
// not hurry anybody any more, until nothing has changed for the time that a failed plan stands.
func TestObjectsThatChangeAllTheTime(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	failAndChange := func(pause time.Duration) {
		t.Helper()
		before := w.newestPlan()
		w.fail(before)
		before.Annotations[v1alpha1.RetryAnnotation] = "Service ns/web has changed"
		must.NoError(t, w.client.Update(t.Context(), before))
		if pause > 0 {
			due := w.Clock.Now().Add(pause).UTC().Format(time.RFC3339)
			w.Clock.Step(pause - time.Second)
			w.mustReconcile()
			if p := w.newestPlan(); p.Name != before.Name {
				t.Fatalf("the plan was repeated in less than %s", pause)
			}
			must.Contain(t, "Subscription", w.subscription("a").Status.GetCondition(readyCondition).Message, "it is tried again at "+due)
			w.Clock.Step(2 * time.Second)
		}
		w.mustReconcile()
		if p := w.newestPlan(); p.Name == before.Name {
			t.Fatalf("the plan was not repeated after %s", pause)
		}
	}
	for _, minutes := range []time.Duration{0, 1, 5, 10, 20, 40, 60, 60, 60} {
		failAndChange(minutes * time.Minute)
	}
	last := w.newestPlan() // nothing changes of what it fails on, and that lets no one hurry either
	w.fail(last)
	w.Clock.Step(repeatLongest - time.Second)
	w.mustReconcile()
	must.Equal(t, "a plan is repeated sooner where nothing has changed than where something has", w.newestPlan().Name, last.Name)
	w.Clock.Step(2 * time.Second)
	w.mustReconcile()
	failAndChange(0)
	failAndChange(time.Minute)
}

// TestPlanThatFailedLateIsNotRepeated has the operator there although the plan failed on something else of the bundle: another plan for
// the same would only fail in the same way, and there is nothing to decide.
func TestPlanThatFailedLateIsNotRepeated(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	p := w.onlyPlan()
	w.add(running("a.v1.0.0", p.Status.BundleLookups[0].Properties))
	w.fail(p)
	for range 30 {
		w.mustReconcile()
		w.Clock.Step(time.Hour)
	}
	must.Equal(t, "count of plans", len(w.plans()), 1)
	must.Equal(t, "Subscription", ready(w.subscription("a")), "False InstallPlanFailed")
}

// TestForeignPlanThatNobodyApprovedIsKept has the plan of another implementation for what would be decided here: people, and what they
// have approve for them, know it by its name.
func TestForeignPlanThatNobodyApprovedIsKept(t *testing.T) {
	tests := map[string]struct {
		change func(*v1alpha1.InstallPlan)
		kept   bool
	}{
		"the same":           {func(*v1alpha1.InstallPlan) {}, true},
		"of other versions":  {func(p *v1alpha1.InstallPlan) { p.Spec.ClusterServiceVersionNames = []string{"a.v1.0.0", "b.v1.0.0"} }, false},
		"of another image":   {func(p *v1alpha1.InstallPlan) { p.Status.BundleLookups[0].Path = "registry/other:v1" }, false},
		"an upgrade":         {func(p *v1alpha1.InstallPlan) { p.Status.BundleLookups[0].Replaces = "a.v0.9.0" }, false},
		"of another catalog": {func(p *v1alpha1.InstallPlan) { p.Status.BundleLookups[0].CatalogSourceRef.Name = "other" }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual))
			w.serve("cat", pkg("a", "A", "", "1.0.0"))
			w.mustReconcile()
			ours := w.onlyPlan()
			foreign := ours.DeepCopy()
			w.remove(ours)
			foreign.ObjectMeta = metav1.ObjectMeta{Namespace: ns, Name: "install-x7k2p", OwnerReferences: ours.OwnerReferences}
			tc.change(foreign)
			status := foreign.Status
			w.add(foreign)
			foreign.Status = status
			w.setPhase(foreign, v1alpha1.InstallPlanPhaseRequiresApproval)
			w.mustReconcile()
			must.Equal(t, "the plan", w.onlyPlan().Name == foreign.Name, tc.kept)
			if tc.kept {
				if sub := w.subscription("a"); sub.Status.InstallPlanRef == nil || sub.Status.InstallPlanRef.Name != foreign.Name {
					t.Errorf("the Subscription names %v", sub.Status.InstallPlanRef)
				}
			}
		})
	}
}

// TestNameOfAPlanIsTaken by a plan of another author: that one stays, and the plan is made under the next name.
func TestNameOfAPlanIsTaken(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	name := planName(ns, 1)
	w.add(&v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: v1alpha1.InstallPlanSpec{ClusterServiceVersionNames: []string{"mine.v1"}}})
	w.mustReconcile()
	plans := w.plans()
	if len(plans) != 2 {
		t.Fatalf("there are %d plans", len(plans))
	}
	for _, p := range plans {
		if theirs := p.Name == name; theirs != (p.Spec.ClusterServiceVersionNames[0] == "mine.v1") || theirs == (len(p.Status.Plan) > 0) {
			t.Errorf("plan %s is for %v and has %d steps", p.Name, p.Spec.ClusterServiceVersionNames, len(p.Status.Plan))
		}
	}
}
