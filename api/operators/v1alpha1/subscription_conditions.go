package v1alpha1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reasons of a Subscription's conditions.
const (
	SubscriptionReasonNoCatalogSourcesFound     = "NoCatalogSourcesFound"
	SubscriptionReasonAllCatalogSourcesHealthy  = "AllCatalogSourcesHealthy"
	SubscriptionReasonCatalogSourcesAdded       = "CatalogSourcesAdded"
	SubscriptionReasonCatalogSourcesUpdated     = "CatalogSourcesUpdated"
	SubscriptionReasonCatalogSourcesDeleted     = "CatalogSourcesDeleted"
	SubscriptionReasonUnhealthyCatalogFound     = "UnhealthyCatalogSourceFound"
	SubscriptionReasonInstallPlanNotFound       = "ReferencedInstallPlanNotFound"
	SubscriptionReasonInstallPlanNotReconciled  = "InstallPlanNotYetReconciled"
	SubscriptionReasonInstallPlanFailed         = "InstallPlanFailed"
	SubscriptionReasonConstraintsNotSatisfiable = "ConstraintsNotSatisfiable"
	SubscriptionReasonErrorPreventedResolution  = "ErrorPreventedResolution"
	SubscriptionReasonUnpackingInProgress       = "UnpackingInProgress"
	SubscriptionReasonBundleUnpackFailed        = "BundleUnpackFailed"
	SubscriptionReasonErrorPreventedUnpacking   = "ErrorPreventedUnpacking"
	SubscriptionReasonEnsureInstallPlanFailed   = "EnsureInstallPlanFailed"
)

// NewSubscriptionCondition makes a condition. SetCondition gives it its times.
func NewSubscriptionCondition(t SubscriptionConditionType, status corev1.ConditionStatus, reason, message string) SubscriptionCondition {
	return SubscriptionCondition{Type: t, Status: status, Reason: reason, Message: message}
}

// NewCatalogsHealthyCondition says that all catalogs that the Subscription can see are healthy.
func NewCatalogsHealthyCondition() SubscriptionCondition {
	return NewSubscriptionCondition(SubscriptionCatalogSourcesUnhealthy, corev1.ConditionFalse,
		SubscriptionReasonAllCatalogSourcesHealthy, "all available catalogsources are healthy")
}

// NewCatalogsUnhealthyCondition says what is wrong with the catalogs.
func NewCatalogsUnhealthyCondition(message string) SubscriptionCondition {
	return NewSubscriptionCondition(SubscriptionCatalogSourcesUnhealthy, corev1.ConditionTrue, SubscriptionReasonUnhealthyCatalogFound, message)
}

// NewNoCatalogsCondition says that the Subscription can see no catalog at all.
func NewNoCatalogsCondition() SubscriptionCondition {
	return NewSubscriptionCondition(SubscriptionCatalogSourcesUnhealthy, corev1.ConditionTrue,
		SubscriptionReasonNoCatalogSourcesFound, "dependency resolution requires at least one catalogsource")
}

// NewInstallPlanMissingCondition says that the referenced InstallPlan is gone.
func NewInstallPlanMissingCondition() SubscriptionCondition {
	return NewSubscriptionCondition(SubscriptionInstallPlanMissing, corev1.ConditionTrue, SubscriptionReasonInstallPlanNotFound, "")
}

// NewInstallPlanCondition says where the InstallPlan stands; it returns false when there is nothing to say because the
// plan is complete.
func NewInstallPlanCondition(plan *InstallPlanStatus) (SubscriptionCondition, bool) {
	installed := plan.GetCondition(InstallPlanInstalled)
	switch plan.Phase {
	case InstallPlanPhaseComplete:
		return SubscriptionCondition{}, false
	case InstallPlanPhaseNone:
		return NewSubscriptionCondition(SubscriptionInstallPlanPending, corev1.ConditionTrue,
			SubscriptionReasonInstallPlanNotReconciled, installed.Message), true
	case InstallPlanPhaseFailed:
		reason := SubscriptionReasonInstallPlanFailed
		if installed.Status == corev1.ConditionFalse && installed.Reason != "" {
			reason = string(installed.Reason)
		}
		return NewSubscriptionCondition(SubscriptionInstallPlanFailed, corev1.ConditionTrue, reason, installed.Message), true
	default:
		return NewSubscriptionCondition(SubscriptionInstallPlanPending, corev1.ConditionTrue, string(plan.Phase), installed.Message), true
	}
}

// Equals compares type, status, reason and message, and leaves the times aside.
func (c SubscriptionCondition) Equals(other SubscriptionCondition) bool {
	return c.Type == other.Type && c.Status == other.Status && c.Reason == other.Reason && c.Message == other.Message
}

// GetCondition is the condition of a type; one that is not there has the status Unknown.
func (s *SubscriptionStatus) GetCondition(t SubscriptionConditionType) SubscriptionCondition {
	for _, c := range s.Conditions {
		if c.Type == t {
			return c
		}
	}
	return SubscriptionCondition{Type: t, Status: corev1.ConditionUnknown}
}

// SetCondition adds a condition or replaces the one of the same type, and returns whether anything changed. A condition
// that equals the old one changes nothing, not even times. The transition time moves when the status changes.
func (s *SubscriptionStatus) SetCondition(c SubscriptionCondition, now metav1.Time) bool {
	c.LastHeartbeatTime, c.LastTransitionTime = &now, now.DeepCopy()
	i := slices.IndexFunc(s.Conditions, func(old SubscriptionCondition) bool { return old.Type == c.Type })
	if i < 0 {
		s.Conditions = append(s.Conditions, c)
		return true
	}
	old := s.Conditions[i]
	if old.Equals(c) {
		return false
	}
	if old.Status == c.Status && old.LastTransitionTime != nil {
		c.LastTransitionTime = old.LastTransitionTime
	}
	s.Conditions[i] = c
	return true
}

// RemoveConditions takes the conditions of these types away, and returns whether there were any.
func (s *SubscriptionStatus) RemoveConditions(remove ...SubscriptionConditionType) bool {
	before := len(s.Conditions)
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c SubscriptionCondition) bool { return slices.Contains(remove, c.Type) })
	return len(s.Conditions) != before
}

// Equals compares the health and the identity of the catalog, and leaves the time aside.
func (h SubscriptionCatalogHealth) Equals(other SubscriptionCatalogHealth) bool {
	if h.CatalogSourceRef == nil || other.CatalogSourceRef == nil {
		return h.Healthy == other.Healthy && h.CatalogSourceRef == other.CatalogSourceRef
	}
	return h.Healthy == other.Healthy && h.CatalogSourceRef.UID == other.CatalogSourceRef.UID
}
