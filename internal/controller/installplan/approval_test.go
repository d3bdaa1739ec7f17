package installplan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"github.com/google/go-cmp/cmp"
)

// TestApprovalStaysAsItWasWritten: tools that keep a plan, or its approval, in Git compare its metadata and its spec. Carrying it out,
// however it ends, changes neither.
func TestApprovalStaysAsItWasWritten(t *testing.T) {
	for name, fails := range map[string]bool{"it succeeds": false, "it fails": true} {
		t.Run(name, func(t *testing.T) {
			plan := wholePlan(t)
			plan.Spec.Approval, plan.Status.Phase = v1alpha1.ApprovalManual, v1alpha1.InstallPlanPhaseRequiresApproval
			plan.Annotations, plan.Labels = map[string]string{"argocd.argoproj.io/tracking-id": "x"}, map[string]string{"app.kubernetes.io/instance": "y"}
			w := newWorld(t, plan, pullSecret())
			if fails {
				w.fault = func(what string, _ bool) error {
					if strings.HasPrefix(what, "create web") {
						return errors.New("broken")
					}
					return nil
				}
			}
			before := w.plan(t, "plan")
			after := w.settle(t, 10*time.Minute)
			if ended := after.Status.Phase == v1alpha1.InstallPlanPhaseFailed; ended != fails {
				t.Fatalf("%s: %s", after.Status.Phase, after.Status.Message)
			}
			for _, p := range []*v1alpha1.InstallPlan{before, after} {
				p.ResourceVersion, p.ManagedFields, p.Status = "", nil, v1alpha1.InstallPlanStatus{}
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}
