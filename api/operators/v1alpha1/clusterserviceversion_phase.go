package v1alpha1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxCSVConditions is the length of the history that a ClusterServiceVersion keeps.
const MaxCSVConditions = 20

// SetPhase sets phase, reason and message. The transition time moves only when the phase changes, and the history grows
// only when the phase or the reason differs from its last entry; it forgets its oldest entries.
func (s *ClusterServiceVersionStatus) SetPhase(phase ClusterServiceVersionPhase, reason ConditionReason, message string, now metav1.Time) {
	s.LastUpdateTime = now.DeepCopy()
	if s.Phase != phase || s.LastTransitionTime == nil {
		s.LastTransitionTime = now.DeepCopy()
	}
	s.Phase, s.Reason, s.Message = phase, reason, message
	conditions := s.TypedConditions()
	if n := len(s.Conditions); n > len(conditions) && s.Conditions[n-1].Phase == phase && s.Conditions[n-1].Reason == reason {
		return
	}
	s.Conditions = append(s.Conditions, ClusterServiceVersionCondition{
		Phase:              phase,
		Reason:             reason,
		Message:            message,
		LastUpdateTime:     s.LastUpdateTime.DeepCopy(),
		LastTransitionTime: s.LastTransitionTime.DeepCopy(),
	})
	if extra := len(s.Conditions) - len(conditions) - MaxCSVConditions; extra > 0 {
		s.Conditions = slices.Delete(s.Conditions, len(conditions), len(conditions)+extra)
	}
}

// TypedConditions are the conditions, which come before the history.
func (s *ClusterServiceVersionStatus) TypedConditions() []ClusterServiceVersionCondition {
	n := slices.IndexFunc(s.Conditions, func(c ClusterServiceVersionCondition) bool { return c.Type == "" })
	if n < 0 {
		n = len(s.Conditions)
	}
	return s.Conditions[:n:n]
}

// SetTypedConditions makes the conditions those that are given, in front of the history. Times move only where a condition says something new.
func (s *ClusterServiceVersionStatus) SetTypedConditions(desired []ClusterServiceVersionCondition, now metav1.Time) {
	old := s.TypedConditions()
	next := make([]ClusterServiceVersionCondition, 0, len(desired)+len(s.Conditions)-len(old))
	for _, c := range desired {
		c.LastUpdateTime, c.LastTransitionTime = now.DeepCopy(), now.DeepCopy()
		if i := slices.IndexFunc(old, func(o ClusterServiceVersionCondition) bool { return o.Type == c.Type && o.Status == c.Status }); i >= 0 {
			c.LastTransitionTime = old[i].LastTransitionTime
			if old[i].Reason == c.Reason && old[i].Message == c.Message {
				c.LastUpdateTime = old[i].LastUpdateTime
			}
		}
		next = append(next, c)
	}
	for _, c := range s.Conditions[len(old):] {
		if c.Phase != CSVPhaseNone { // an entry without one is a condition of which an older CustomResourceDefinition has kept no type
			next = append(next, c)
		}
	}
	s.Conditions = next
}

// IsCopied says whether the ClusterServiceVersion is a copy that only shows that an operator of another namespace
// watches this one.
func (c *ClusterServiceVersion) IsCopied() bool {
	return c.Status.Reason == CSVReasonCopied || IsCopied(c)
}

// IsCopied says, from the metadata alone, whether a ClusterServiceVersion is a copy.
func IsCopied(o metav1.Object) bool {
	if namespace, ok := o.GetAnnotations()[OperatorNamespaceAnnotation]; ok && namespace != o.GetNamespace() {
		return true
	}
	_, labelled := o.GetLabels()[CopiedFromLabel]
	return labelled
}
