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
	if n := len(s.Conditions); n > 0 && s.Conditions[n-1].Phase == phase && s.Conditions[n-1].Reason == reason {
		return
	}
	s.Conditions = append(s.Conditions, ClusterServiceVersionCondition{
		Phase:              phase,
		Reason:             reason,
		Message:            message,
		LastUpdateTime:     s.LastUpdateTime.DeepCopy(),
		LastTransitionTime: s.LastTransitionTime.DeepCopy(),
	})
	if extra := len(s.Conditions) - MaxCSVConditions; extra > 0 {
		s.Conditions = slices.Delete(s.Conditions, 0, extra)
	}
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
