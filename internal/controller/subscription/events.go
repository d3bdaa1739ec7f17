package subscription

import (
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
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

// tell makes Events of what has gone wrong since the status was written last: about the namespace when there is no answer, each told
// once for all Subscriptions that it concerns, about the OperatorGroup when an annotation of it says nothing, and about the Subscription
// when a bundle cannot be had.
func (c *Controller) tell(s *state, before, after *v1alpha1.Subscription, told map[string]bool) {
	if failed, is := begun(before, after, v1alpha1.SubscriptionResolutionFailed); is && !told[failed.Message] {
		told[failed.Message] = true
		about := &corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: after.Namespace}
		c.events.Event(about, corev1.EventTypeWarning, eventResolutionFailed, failed.Message)
	}
	if misread, is := begun(before, after, misreadCondition); is && !told[misread.Message] {
		told[misread.Message] = true
		group := &s.Groups[0]
		about := &corev1.ObjectReference{APIVersion: operatorsv1.GroupVersion.String(), Kind: operatorsv1.OperatorGroupKind, Namespace: group.Namespace,
			Name: group.Name, UID: group.UID, ResourceVersion: group.ResourceVersion}
		c.events.Event(about, corev1.EventTypeWarning, eventMisread, misread.Message)
	}
	if failed, is := begun(before, after, v1alpha1.SubscriptionBundleUnpackFailed); is {
		about := &corev1.ObjectReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.SubscriptionKind, Namespace: after.Namespace,
			Name: after.Name, UID: after.UID, ResourceVersion: after.ResourceVersion}
		c.events.Event(about, corev1.EventTypeWarning, eventBundleUnpackFailed, failed.Message)
	}
}

// begun returns a condition that is True and says something that it did not say before.
func begun(before, after *v1alpha1.Subscription, kind v1alpha1.SubscriptionConditionType) (v1alpha1.SubscriptionCondition, bool) {
	now := after.Status.GetCondition(kind)
	return now, now.Status == corev1.ConditionTrue && !now.Equals(before.Status.GetCondition(kind))
}
