package installplan

import (
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/apimachinery/pkg/api/equality"
)

// detailInterval is how often it is written at most how far the CRDs are that a plan waits for. A plan may bring a hundred of them, which the
// API server comes to serve one by one, and has no time for words meanwhile. All else is written at once.
const detailInterval = reconcile.StatusInterval

// waits begins the message of a plan that waits for something.
const waits = "waiting: "

// isDetail tells whether two statuses differ only in how far the CRDs are that the plan waits for.
func isDetail(before, after *planStatus) bool {
	if !strings.HasPrefix(before.Message, waits) || !strings.HasPrefix(after.Message, waits) {
		return false
	}
	same := after.DeepCopy()
	same.Message = before.Message
	for i, step := range same.Plan {
		old := before.Plan[i]
		if old.Resource.Kind == crdKind && old.Status == v1alpha1.StepStatusWaitingForAPI && step.Status == v1alpha1.StepStatusCreated {
			step.Status = old.Status
		}
	}
	return equality.Semantic.DeepEqual(before, same)
}
