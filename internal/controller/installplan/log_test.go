package installplan

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"
)

// TestTransitionsAreLogged: the transition of a phase is one line, and a pass that changes nothing writes none.
func TestTransitionsAreLogged(t *testing.T) {
	plan := wholePlan(t)
	plan.Spec.Approval, plan.Spec.Approved, plan.Status.Phase = v1alpha1.ApprovalManual, false, v1alpha1.InstallPlanPhaseNone
	w := newWorld(t, plan, pullSecret())
	var lines []string
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{}))
	pass := func() string {
		t.Helper()
		lines = nil
		must.Value(w.controller.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(plan)}))(t)
		return strings.Join(lines, "\n")
	}
	transition := func(phase v1alpha1.InstallPlanPhase) {
		t.Helper()
		want := `"msg"="status changed" "kind"="InstallPlan" "generation"=`
		if got := pass(); len(lines) != 1 || !strings.Contains(got, want) || !strings.Contains(got, `"type"="Phase" "status"="`+string(phase)+`"`) {
			t.Errorf("the transition to %s logs:\n%s", phase, got)
		}
		must.Equal(t, "a pass that changes nothing logs", pass(), "")
	}
	transition(v1alpha1.InstallPlanPhaseRequiresApproval)
	approved := w.plan(t, plan.Name)
	approved.Spec.Approved = true
	must.NoError(t, w.Update(t.Context(), approved))
	transition(v1alpha1.InstallPlanPhaseComplete)
}
