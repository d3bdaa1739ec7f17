package installplan

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// canBeWritten says whether the API server takes an object that it could not write because of an error of its own, or of a webhook that it
// asks: it is asked to write it, as whom the plan is carried out, and to leave it at that. What it refuses for another reason than such an error
// or a permission is for another plan to report.
func (c retrier) canBeWritten(ctx context.Context, plan *v1alpha1.InstallPlan, o obstacle) (string, error) {
	err := c.try(ctx, plan, o)
	switch {
	case err != nil && (apierrors.IsInternalError(err) || apierrors.IsForbidden(err) || reconcile.IsTransient(err)):
		return "", nil
	case errors.Is(err, errNobody):
		return "", err
	}
	return fmt.Sprintf("the API server can write %s again", o.ref), nil
}

// errNobody says that there is nobody to ask as.
var errNobody = errors.New("its account cannot be used")

// try writes an object without a trace. New objects are created, because that takes no other permission; see the apply engine.
func (c retrier) try(ctx context.Context, plan *v1alpha1.InstallPlan, o obstacle) error {
	writer := c.client
	if account := plan.Status.AttenuatedServiceAccountRef; account != nil && o.limited {
		var err error
		if writer, err = c.Accounts.Client(ctx, account.Namespace, account.Name); err != nil {
			return fmt.Errorf("ask whether %s can be written, which InstallPlan %s/%s failed on: %w: %w", o.ref, plan.Namespace, plan.Name, errNobody, err)
		}
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(o.ref.GroupVersionKind)
	wanted := o.internal.DeepCopy()
	switch err := c.live.Get(ctx, client.ObjectKeyFromObject(wanted), live); {
	case err == nil:
		return writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.DryRunAll, client.ForceOwnership, client.FieldOwner(fieldOwner))
	case apierrors.IsNotFound(err) && !rollout.IsUnknownKind(err):
		return writer.Create(ctx, wanted, client.DryRunAll, client.FieldOwner(fieldOwner))
	default:
		return err
	}
}
