package ops

import (
	"context"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// waitingPlan is the InstallPlan of a Subscription that waits for approval; nil when there is none.
func waitingPlan(ctx context.Context, c client.Reader, sub *v1alpha1.Subscription) (*v1alpha1.InstallPlan, error) {
	ref := sub.Status.InstallPlanRef
	if ref == nil {
		return nil, nil
	}
	plan := &v1alpha1.InstallPlan{}
	err := c.Get(ctx, client.ObjectKey{Namespace: sub.Namespace, Name: ref.Name}, plan)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read InstallPlan %s/%s: %w", sub.Namespace, ref.Name, err)
	case plan.Spec.Approved || plan.Status.Phase != v1alpha1.InstallPlanPhaseRequiresApproval:
		return nil, nil
	}
	return plan, nil
}

// describe names a plan, with what it installs.
func describe(plan *v1alpha1.InstallPlan) string {
	return fmt.Sprintf("InstallPlan %s, which installs %s", plan.Name, strings.Join(plan.Spec.ClusterServiceVersionNames, ", "))
}

// OpenPlan is the InstallPlan of a Subscription that waits for approval or is carried out; nil when there is none.
func OpenPlan(ctx context.Context, reader client.Reader, key client.ObjectKey) (*v1alpha1.InstallPlan, error) {
	sub, err := subscriptionOf(ctx, reader, key)
	if err != nil || sub.Status.InstallPlanRef == nil {
		return nil, err
	}
	plan := &v1alpha1.InstallPlan{}
	err = reader.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: sub.Status.InstallPlanRef.Name}, plan)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read InstallPlan %s/%s: %w", key.Namespace, sub.Status.InstallPlanRef.Name, err)
	case plan.Status.Phase == v1alpha1.InstallPlanPhaseComplete, plan.Status.Phase == v1alpha1.InstallPlanPhaseFailed:
		return nil, nil
	}
	return plan, nil
}
