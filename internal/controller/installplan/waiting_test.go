package installplan

import (
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPlansThatWaitForApproval wait since they were made, until they are approved.
func TestPlansThatWaitForApproval(t *testing.T) {
	made := time.Unix(1_700_000_000, 0)
	for name, test := range map[string]struct {
		phase    v1alpha1.InstallPlanPhase
		approved bool
		want     time.Time
	}{
		"one that waits":                        {v1alpha1.InstallPlanPhaseRequiresApproval, false, made},
		"approved, and not acted on yet":        {v1alpha1.InstallPlanPhaseRequiresApproval, true, time.Time{}},
		"one that is carried out":               {v1alpha1.InstallPlanPhaseInstalling, true, time.Time{}},
		"failed although it was never approved": {v1alpha1.InstallPlanPhaseFailed, false, time.Time{}},
	} {
		p := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(made)}}
		p.Spec.Approved, p.Status.Phase = test.approved, test.phase
		must.Equal(t, name, waitsSince(p), test.want)
	}
}
