package clusterobjectset

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/crd"
)

// populated says how many custom resources a definition has, or why that cannot be told; empty is for none. Its error is one that may pass
// in time.
func (c *Controller) populated(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes, live *apiextensionsv1.CustomResourceDefinition) (string, error) {
	own, err := c.ownOf(ctx, set, known, live)
	if err != nil {
		return "", err
	}
	v, err := crd.Judge(ctx, crd.Change{Live: live, Own: own}, crd.Stored{Reader: c.live, Count: c.count})
	if c.worthWaiting(ctx, set, err) {
		return "", err
	}
	return v.Stored, nil
}

// ownOf are the custom resources of a definition that the set has itself: they go in any case.
func (c *Controller) ownOf(ctx context.Context, set *olmv1.ClusterObjectSet, known *notes, crd *apiextensionsv1.CustomResourceDefinition) (map[client.ObjectKey]bool, error) {
	own := map[client.ObjectKey]bool{}
	for _, p := range known.phases {
		for _, e := range p {
			if e.ref.Group != crd.Spec.Group || e.ref.Kind != crd.Spec.Names.Kind {
				continue
			}
			live, key := metadataOf(e.ref.GroupVersionKind), client.ObjectKey{Namespace: e.ref.Namespace, Name: e.ref.Name}
			err := c.live.Get(ctx, key, live)
			if client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("read %s: %w", e.ref, err)
			}
			if err == nil && metav1.IsControlledBy(live, set) {
				own[key] = true
			}
		}
	}
	return own, nil
}

// worthWaiting tells whether an error may pass in time. A set that is deleted does not wait for ever.
func (c *Controller) worthWaiting(ctx context.Context, set *olmv1.ClusterObjectSet, err error) bool {
	return passing(ctx, err) && (set.DeletionTimestamp == nil || c.clock.Now().Before(set.DeletionTimestamp.Add(operandPatience)))
}

// passing tells whether the API server could not answer for now. What it has answered stays the same.
func passing(ctx context.Context, err error) bool {
	if err == nil || errors.Is(err, crd.ErrUnserved) {
		return false
	}
	return ctx.Err() != nil || reconcile.IsTransient(err) || apierrors.ReasonForError(err) == metav1.StatusReasonUnknown
}
