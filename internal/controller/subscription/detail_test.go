package subscription

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestHowFarAnOperatorIs is written every few seconds, while it is being installed; that it runs is written at once.
func TestHowFarAnOperatorIs(t *testing.T) {
	w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("a", "a", ""))
	w.serve("cat", pkg("a", "A", "", "1.0.0"))
	w.mustReconcile()
	w.carryOut(w.onlyPlan())
	says := func(phase v1alpha1.ClusterServiceVersionPhase, message string) {
		t.Helper()
		csv := &v1alpha1.ClusterServiceVersion{}
		must.NoError(t, w.client.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: "a.v1.0.0"}, csv))
		csv.Status.Phase, csv.Status.Message = phase, message
		csv.Status.LastUpdateTime = &metav1.Time{Time: w.Clock.Now()}
		must.NoError(t, w.client.Status().Update(t.Context(), csv))
	}
	ready := func() string { return w.subscription("a").Status.GetCondition(readyCondition).Message }
	says(v1alpha1.CSVPhasePending, "b is missing")
	w.mustReconcile()
	first, at := ready(), w.subscription("a").Status.LastUpdated
	says(v1alpha1.CSVPhasePending, "c is missing")
	w.Clock.Step(time.Second)
	result := must.Value(w.controller.Reconcile(t.Context(), request))(t)
	if ready() != first || result.RequeueAfter != detailInterval-time.Second {
		t.Errorf("after a second it says %q, and the next look is in %v", ready(), result.RequeueAfter)
	}
	w.Clock.Step(detailInterval - time.Second)
	w.mustReconcile()
	if ready() == first || w.subscription("a").Status.LastUpdated == at {
		t.Errorf("after %v it still says %q", detailInterval, ready())
	}
	second := ready()
	says(v1alpha1.CSVPhaseSucceeded, "fine")
	w.mustReconcile()
	if ready() == second {
		t.Errorf("when the operator runs it still says %q", second)
	}
}
