package subscription

import (
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// detailInterval is how often it is written at most how far an operator is that is being installed. That it is, and what keeps it from being
// installed, is written at once. While the objects of an operator arrive, the words change with each of them, and a cluster that is busy
// installing operators has no time for that.
const detailInterval = reconcile.StatusInterval

// tooSoon is how long to wait before a status is written of which only such words have changed; 0 or less is not at all.
func tooSoon(before, after *v1alpha1.SubscriptionStatus, now time.Time) time.Duration {
	since := now.Sub(before.LastUpdated.Time)
	if since < 0 || after.InstalledCSV == "" || after.GetCondition(readyCondition).Status != corev1.ConditionFalse ||
		equality.Semantic.DeepEqual(before, after) || !equality.Semantic.DeepEqual(wordless(before), wordless(after)) {
		return 0
	}
	return detailInterval - since
}

// wordless is a status without the words that say how far an operator is, and without the times that follow them.
func wordless(s *v1alpha1.SubscriptionStatus) *v1alpha1.SubscriptionStatus {
	out := s.DeepCopy()
	out.LastUpdated = metav1.Time{}
	for i := range out.Conditions {
		c := &out.Conditions[i]
		if c.Type == readyCondition || c.Type == v1alpha1.SubscriptionInstallPlanPending {
			c.Message, c.LastHeartbeatTime, c.LastTransitionTime = "", nil, nil
		}
	}
	return out
}
