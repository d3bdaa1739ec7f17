package v1alpha1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NewInstallPlanMet is a condition that holds.
func NewInstallPlanMet(t InstallPlanConditionType) InstallPlanCondition {
	return InstallPlanCondition{Type: t, Status: corev1.ConditionTrue}
}

// NewInstallPlanFailed is a condition that does not hold.
func NewInstallPlanFailed(t InstallPlanConditionType, reason InstallPlanConditionReason, message string) InstallPlanCondition {
	return InstallPlanCondition{Type: t, Status: corev1.ConditionFalse, Reason: reason, Message: message}
}

// GetCondition is the condition of a type; one that is not there has the status Unknown.
func (s *InstallPlanStatus) GetCondition(t InstallPlanConditionType) InstallPlanCondition {
	for _, c := range s.Conditions {
		if c.Type == t {
			return c
		}
	}
	return InstallPlanCondition{Type: t, Status: corev1.ConditionUnknown}
}

// SetCondition adds a condition or replaces the one of the same type, and returns what is now there. The update time is
// now; the transition time is kept as long as the status stays the same.
func (s *InstallPlanStatus) SetCondition(c InstallPlanCondition, now metav1.Time) InstallPlanCondition {
	c.LastUpdateTime, c.LastTransitionTime = &now, now.DeepCopy()
	i := slices.IndexFunc(s.Conditions, func(old InstallPlanCondition) bool { return old.Type == c.Type })
	if i < 0 {
		s.Conditions = append(s.Conditions, c)
		return c
	}
	if old := s.Conditions[i]; old.Status == c.Status && old.LastTransitionTime != nil {
		c.LastTransitionTime = old.LastTransitionTime
	}
	s.Conditions[i] = c
	return c
}

// Equals compares type, status, reason and message, and leaves the times aside.
func (c InstallPlanCondition) Equals(other InstallPlanCondition) bool {
	return c.Type == other.Type && c.Status == other.Status && c.Reason == other.Reason && c.Message == other.Message
}

// GetCondition is the condition of a type; one that is not there has the status Unknown.
func (l *BundleLookup) GetCondition(t BundleLookupConditionType) BundleLookupCondition {
	for _, c := range l.Conditions {
		if c.Type == t {
			return c
		}
	}
	return BundleLookupCondition{Type: t, Status: corev1.ConditionUnknown}
}

// SetCondition adds a condition or replaces the one of the same type. The update time is now; the transition time is
// kept as long as the status stays the same.
func (l *BundleLookup) SetCondition(c BundleLookupCondition, now metav1.Time) {
	c.LastUpdateTime, c.LastTransitionTime = &now, now.DeepCopy()
	i := slices.IndexFunc(l.Conditions, func(old BundleLookupCondition) bool { return old.Type == c.Type })
	if i < 0 {
		l.Conditions = append(l.Conditions, c)
		return
	}
	if old := l.Conditions[i]; old.Status == c.Status && old.LastTransitionTime != nil {
		c.LastTransitionTime = old.LastTransitionTime
	}
	l.Conditions[i] = c
}

// RemoveCondition takes the condition of a type away.
func (l *BundleLookup) RemoveCondition(t BundleLookupConditionType) {
	l.Conditions = slices.DeleteFunc(l.Conditions, func(c BundleLookupCondition) bool { return c.Type == t })
}
