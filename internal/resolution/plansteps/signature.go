package plansteps

import (
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"

	corev1 "k8s.io/api/core/v1"
)

// Signature is the condition of a lookup that reports who signed its bundle, or why the signature policy refuses it; nil where no policy
// applies.
func Signature(v image.Verdict) *v1alpha1.BundleLookupCondition {
	c := v.Condition()
	if c == nil {
		return nil
	}
	return &v1alpha1.BundleLookupCondition{Type: v1alpha1.BundleLookupSignatureVerified, Status: corev1.ConditionStatus(c.Status), Reason: c.Reason,
		Message: messages.Brief(c.Message)}
}
