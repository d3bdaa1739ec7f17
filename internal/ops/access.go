package ops

import (
	"context"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/internal/ops/migrate"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// edit changes the metadata of an object, again when another client wrote it meanwhile. One that is not there stays so.
func (c access) edit(ctx context.Context, r migrate.Ref, change func(client.Object) bool) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(schema.FromAPIVersionAndKind(r.APIVersion, r.Kind))
		if err := c.Client.Get(ctx, client.ObjectKey{Namespace: r.Namespace, Name: r.Name}, live); err != nil {
			return client.IgnoreNotFound(err)
		}
		before := live.DeepCopy()
		if !change(live) {
			return nil
		}
		return client.IgnoreNotFound(c.Client.Patch(ctx, live, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), moveOwner))
	})
	if err != nil {
		return fmt.Errorf("change the metadata of %s: %w", r, err)
	}
	return nil
}

// gone waits until an object, the one of a UID where that is given, is not there any more.
func (c access) gone(ctx context.Context, r migrate.Ref, uid string) error {
	return WaitRemoval(ctx, func() (string, error) {
		live, err := c.read(ctx, r)
		switch {
		case err != nil:
			return "", err
		case live == nil || uid != "" && string(live.GetUID()) != uid:
			return "", nil
		case len(live.GetFinalizers()) > 0:
			return fmt.Sprintf("%s waits for its finalizers %s: is the manager running?", r, strings.Join(live.GetFinalizers(), ", ")), nil
		}
		return r.String() + " is still there", nil
	})
}

// remove deletes an object, and waits until it is gone.
func (c access) remove(ctx context.Context, r migrate.Ref, options ...client.DeleteOption) error {
	live, err := c.read(ctx, r)
	if err != nil || live == nil {
		return err
	}
	uid := live.GetUID()
	if err := c.Client.Delete(ctx, live, append(options, client.Preconditions{UID: &uid})...); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", r, err)
	}
	return c.gone(ctx, r, string(uid))
}
