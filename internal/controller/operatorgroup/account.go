package operatorgroup

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
)

// manageAccount labels the service account of the group, so that tools see that it is in use. The UID keeps an account
// that was deleted in the meantime from being made again.
func (c *Controller) manageAccount(ctx context.Context, group *v1.OperatorGroup, seen *observed) error {
	account := seen.account
	if account == nil || account.Labels[v1alpha1.ManagedLabel] == v1alpha1.ManagedLabelValue {
		return nil
	}
	wanted := applycorev1.ServiceAccount(account.Name, account.Namespace).
		WithUID(account.UID).
		WithLabels(map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue})
	err := rollout.Assert(ctx, c.client, wanted, v1alpha1.FieldManagerServiceAccount)
	if err != nil {
		return fmt.Errorf("label ServiceAccount %s/%s of OperatorGroup %s: %w", account.Namespace, account.Name, group.Name, err)
	}
	return nil
}

// accountRef is the reference to the service account; nil when there is none. It leaves the resource version out: that
// changes without anything about the group changing.
func accountRef(seen *observed) *corev1.ObjectReference {
	if seen.account == nil {
		return nil
	}
	return &corev1.ObjectReference{
		APIVersion: "v1",
		Kind:       "ServiceAccount",
		Namespace:  seen.account.Namespace,
		Name:       seen.account.Name,
		UID:        seen.account.UID,
	}
}
