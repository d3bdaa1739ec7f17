package v1alpha1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsHandWritten tells whether people made the plan, rather than a Subscription, which is then among its owners.
func (p *InstallPlan) IsHandWritten() bool {
	return !slices.ContainsFunc(p.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Kind == SubscriptionKind })
}
