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
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
)

const (
	// ConditionInvalid is True when something is wrong with the group itself.
	ConditionInvalid = "OperatorGroupInvalid"
	// ReasonInvalidTargets means that the target namespaces cannot be told from the spec. The status keeps the last ones.
	ReasonInvalidTargets = "InvalidTargetNamespaces"
	// ReasonInvalidName means that the group can have no ClusterRoles.
	ReasonInvalidName = "InvalidName"
	// ReasonSelected is that of Ready where the group has target namespaces, ReasonNoTargets where its selector matches none.
	ReasonSelected  = "TargetNamespacesSelected"
	ReasonNoTargets = "NoTargetNamespaces"
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
	if !sameSelection(&group.Status, &out) {
		out.LastUpdated = &at
	}
	out.ObservedGeneration = group.Generation
	verdictOf(&out).Set(&out.Conditions, group.Generation, at)
	return out
}

// verdictOf is the verdict on a group with that status: it is ready when operators can be installed under it. A service account or a namespace that is
// missing may still come; which of several groups counts, or what the spec means, is for a user to say.
func verdictOf(s *v1.OperatorGroupStatus) reconcile.Verdict {
	for _, kind := range []string{ConditionInvalid, v1.OperatorGroupMultiple, v1.OperatorGroupServiceAccount} {
		c := meta.FindStatusCondition(s.Conditions, kind)
		switch {
		case c == nil:
		case kind == v1.OperatorGroupServiceAccount:
			return reconcile.Progressing(c.Reason, c.Message)
		default:
			return reconcile.Stalled(c.Reason, c.Message)
		}
	}
	switch {
	case len(s.Namespaces) == 0:
		return reconcile.Progressing(ReasonNoTargets, "spec.selector matches no namespace: label one, or name namespaces in spec.targetNamespaces")
	case s.Namespaces[0] == metav1.NamespaceAll:
		return reconcile.Done(ReasonSelected, "the target namespaces are all namespaces")
	}
	return reconcile.Done(ReasonSelected, messages.Brief("the target namespaces are "+strings.Join(s.Namespaces, ", ")))
}

// sameStatus compares all but the time of the last change, which has to be there though.
func sameStatus(a, b *v1.OperatorGroupStatus) bool {
	return sameSelection(a, b) && a.ObservedGeneration == b.ObservedGeneration && equality.Semantic.DeepEqual(a.Conditions, b.Conditions)
}

// sameSelection compares what LastUpdated is the time of, by which groups that provide the same API are ordered. The verdict is no part of it: it
// follows from the rest.
func sameSelection(a, b *v1.OperatorGroupStatus) bool {
	facts := func(all []metav1.Condition) []metav1.Condition {
		return slices.DeleteFunc(slices.Clone(all), func(c metav1.Condition) bool { return slices.Contains(reconcile.VerdictTypes, c.Type) })
	}
	return a.LastUpdated != nil && a.ObservedGeneration >= 0 &&
		slices.Equal(a.Namespaces, b.Namespaces) &&
		equality.Semantic.DeepEqual(a.ServiceAccountRef, b.ServiceAccountRef) &&
		equality.Semantic.DeepEqual(facts(a.Conditions), facts(b.Conditions))
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
