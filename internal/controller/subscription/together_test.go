package subscription

import (
	"slices"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/must"
)

// TestNamespaceWidePlanListsWhatChanges has one of two operators upgraded in a namespace that is decided on as a whole: the plan is about
// that one, and what stays as it is has no steps in it.
func TestNamespaceWidePlanListsWhatChanges(t *testing.T) {
	group := operatorGroup("og")
	group.Annotations = map[string]string{snapshot.TogetherAnnotation: "true"}
	w := newWorld(t, group, catalogSource("cat"), subscribe("a", "a", v1alpha1.ApprovalManual), subscribe("b", "b", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "", "1.0.0"))
	w.mustReconcile()
	first := w.onlyPlan()
	if names := slices.Sorted(slices.Values(first.Spec.ClusterServiceVersionNames)); !slices.Equal(names, []string{"a.v1.0.0", "b.v1.0.0"}) {
		t.Fatalf("the first plan is for %v", names)
	}
	w.approve(first)
	w.carryOut(first)
	w.mustReconcile()
	w.serve("cat", pkg("a", "A", "", "1.0.0")+pkg("b", "B", "", "1.0.0", "1.1.0"))
	w.mustReconcile()
	p := w.newestPlan()
	if p.Name == first.Name || p.Spec.Approval != v1alpha1.ApprovalManual || !slices.Equal(p.Spec.ClusterServiceVersionNames, []string{"b.v1.1.0"}) {
		t.Errorf("the plan of the upgrade is %s for %v", p.Spec.Approval, p.Spec.ClusterServiceVersionNames)
	}
	for _, s := range p.Status.Plan {
		must.Equal(t, "operator of the step", s.Resolving, "b.v1.1.0")
	}
	if len(p.OwnerReferences) != 2 {
		t.Errorf("it belongs to %d Subscriptions, want both", len(p.OwnerReferences))
	}
}
