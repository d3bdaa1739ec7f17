package installplan

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"fairlead.dev/fairlead/internal/apply"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// areAway tells whether all that failed are requests which the API server had no time for, or which did not reach it. That says nothing of
// the objects, and passes: a plan is not given up for it.
func areAway(failures apply.Failures) bool {
	return !slices.ContainsFunc(failures, func(err error) bool {
		var network *url.Error
		return !apierrors.IsServerTimeout(err) && !apierrors.IsTimeout(err) && !apierrors.IsTooManyRequests(err) && !apierrors.IsServiceUnavailable(err) &&
			!errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &network)
	})
}

// canBeWritten says whether the API server takes an object that it could not write because of an error of its own, or of a webhook that it
// asks: it is asked to write it, and to leave it at that. Any other answer than such an error is one that another plan can report.
func (c *Controller) canBeWritten(ctx context.Context, o obstacle) (string, error) {
	request := client.ApplyConfigurationFromUnstructured(o.internal.DeepCopy())
	err := c.client.Apply(ctx, request, client.DryRunAll, client.ForceOwnership, client.FieldOwner(fieldOwner))
	switch {
	case err != nil && (apierrors.IsInternalError(err) || areAway(apply.Failures{err})):
		return "", nil
	}
	return fmt.Sprintf("the API server can write %s again", o.ref), nil
}
