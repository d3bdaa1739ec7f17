package subscription

import (
	"fairlead.dev/fairlead/api/operators/v1alpha1"

	corev1 "k8s.io/api/core/v1"
)

// eventSource is the component that Events come from.
const eventSource = "operator-lifecycle-manager"

// Reasons of Events.
const (
	eventResolutionFailed   = "ResolutionFailed"
	eventBundleUnpackFailed = "BundleUnpackFailed"
	eventMisread            = "AnnotationIgnored"
)

// begun returns a condition that is True and says something that it did not say before.
func begun(before, after *v1alpha1.Subscription, kind v1alpha1.SubscriptionConditionType) (v1alpha1.SubscriptionCondition, bool) {
	now := after.Status.GetCondition(kind)
	return now, now.Status == corev1.ConditionTrue && !now.Equals(before.Status.GetCondition(kind))
}
