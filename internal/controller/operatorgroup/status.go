package operatorgroup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
)

const (
	// ConditionInvalid is True when something is wrong with the group itself.
	ConditionInvalid = "OperatorGroupInvalid"
	// ReasonInvalidTargets means that the target namespaces cannot be told from the spec. The status keeps the last ones.
	ReasonInvalidTargets = "InvalidTargetNamespaces"
	// ReasonInvalidName means that the group can have no ClusterRoles.
	ReasonInvalidName = "InvalidName"
)

// status is the status of a group, from what was observed.
func status(group *v1.OperatorGroup, seen *observed, now time.Time) v1.OperatorGroupStatus {
	out := *group.Status.DeepCopy()
	if seen.invalid == nil {
		out.Namespaces = seen.targets
	}
	out.ServiceAccountRef = nil
	if seen.account != nil { // without the resource version, which changes without anything about the group changing
		out.ServiceAccountRef = &corev1.ObjectReference{APIVersion: "v1", Kind: "ServiceAccount", Namespace: seen.account.Namespace, Name: seen.account.Name, UID: seen.account.UID}
	}
	at := metav1.NewTime(now).Rfc3339Copy()
	// All conditions that this controller writes. Those that are not True are absent from the status.
	multiple := metav1.Condition{Type: v1.OperatorGroupMultiple, Reason: v1.OperatorGroupReasonMultiple}
	if len(seen.groups) > 1 {
		multiple.Status = metav1.ConditionTrue
		multiple.Message = fmt.Sprintf("Multiple OperatorGroup found in the same namespace: %s; delete all but one", strings.Join(sortedSet(seen.groups), ", "))
	}
	account := metav1.Condition{Type: v1.OperatorGroupServiceAccount, Reason: v1.OperatorGroupReasonServiceAccountNotFound}
	if group.Spec.ServiceAccountName != "" && seen.account == nil {
		account.Status = metav1.ConditionTrue
		account.Message = fmt.Sprintf("ServiceAccount %s not found", group.Spec.ServiceAccountName)
	}
	invalid := metav1.Condition{Type: ConditionInvalid, Reason: ReasonInvalidTargets}
	switch {
	case seen.invalid != nil:
		invalid.Status, invalid.Message = metav1.ConditionTrue, seen.invalid.Error()
	case seen.unlabelable != nil:
		invalid.Status, invalid.Reason, invalid.Message = metav1.ConditionTrue, ReasonInvalidName, seen.unlabelable.Error()
	}
	for _, c := range []metav1.Condition{multiple, account, invalid} {
		if c.Status == metav1.ConditionTrue {
			c.LastTransitionTime, c.ObservedGeneration = at, group.Generation
			meta.SetStatusCondition(&out.Conditions, c)
		} else {
			meta.RemoveStatusCondition(&out.Conditions, c.Type)
		}
	}
	if !sameStatus(&group.Status, &out) {
		out.LastUpdated = &at
	}
	return out
}

// sameStatus compares all but the time of the last write, which has to be there though.
func sameStatus(a, b *v1.OperatorGroupStatus) bool {
	return a.LastUpdated != nil &&
		slices.Equal(a.Namespaces, b.Namespaces) &&
		equality.Semantic.DeepEqual(a.ServiceAccountRef, b.ServiceAccountRef) &&
		equality.Semantic.DeepEqual(a.Conditions, b.Conditions)
}

// manageAccount labels the service account of the group, so that tools see that it is in use. The UID keeps an account
// that was deleted in the meantime from being made again.
func (c *Controller) manageAccount(ctx context.Context, group *v1.OperatorGroup, seen *observed) error {
	account := seen.account
	if account == nil || account.Labels[v1alpha1.ManagedLabel] == v1alpha1.ManagedLabelValue {
		return nil
	}
	desired := applycorev1.ServiceAccount(account.Name, account.Namespace).
		WithUID(account.UID).
		WithLabels(map[string]string{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue})
	err := rollout.Assert(ctx, c.client, desired, v1alpha1.FieldManagerServiceAccount)
	if err != nil {
		return fmt.Errorf("label ServiceAccount %s/%s of OperatorGroup %s: %w", account.Namespace, account.Name, group.Name, err)
	}
	return nil
}
