package copiedcsv

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// eventReason and eventSource are documented.
const (
	eventReason = "DisabledCopiedCSVs"
	eventSource = "operator-lifecycle-manager"
)

// tellAll sees to it that each operator that is not copied has one Event that says so, and that the Events go when copying
// is enabled again. Their names follow from the operators, so that there is never a second one.
func (r *reporter) tellAll(ctx context.Context, config *v1.OLMConfig, operators []*v1alpha1.ClusterServiceVersion) error {
	if r.told == nil {
		r.told = map[types.NamespacedName]bool{}
	}
	if !config.CopiedCSVsEnabled() {
		var errs []error
		for _, csv := range operators {
			key := client.ObjectKeyFromObject(csv)
			if r.told[key] {
				continue
			}
			err := r.c.client.Create(ctx, disabledEvent(csv, metav1.NewTime(r.clock.Now())))
			if err != nil && !apierrors.IsAlreadyExists(err) {
				errs = append(errs, fmt.Errorf("tell about ClusterServiceVersion %s that it is not copied: %w", key, err))
				continue
			}
			r.told[key] = true
		}
		return errors.Join(errs...)
	}
	last := meta.FindStatusCondition(config.Status.Conditions, v1.OLMConfigDisabledCopiedCSVs)
	if last == nil || last.Reason != v1.OLMConfigReasonCopiedCSVsDisabled {
		return nil
	}
	var errs []error
	for _, csv := range operators {
		if err := r.c.client.Delete(ctx, disabledEvent(csv, metav1.Time{})); client.IgnoreNotFound(err) != nil {
			errs = append(errs, fmt.Errorf("remove the Event that ClusterServiceVersion %s/%s is not copied: %w", csv.Namespace, csv.Name, err))
		}
	}
	clear(r.told)
	return errors.Join(errs...)
}

// disabledEvent says that an operator is not copied.
func disabledEvent(csv *v1alpha1.ClusterServiceVersion, at metav1.Time) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: csv.Namespace, Name: "copying-disabled-" + hash([]byte(csv.Namespace+"/"+csv.Name+"/"+string(csv.UID)))},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind,
			Namespace: csv.Namespace, Name: csv.Name, UID: csv.UID, ResourceVersion: csv.ResourceVersion,
		},
		Type: corev1.EventTypeWarning, Reason: eventReason, Message: fmt.Sprintf("CSV copying disabled for %s/%s", csv.Namespace, csv.Name),
		Source: corev1.EventSource{Component: eventSource}, ReportingController: eventSource, Count: 1, FirstTimestamp: at, LastTimestamp: at,
	}
}
