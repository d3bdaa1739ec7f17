package clusterobjectset

import (
	"context"
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/policies"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

const (
	// objectManager owns the fields of the objects of revisions.
	objectManager = "olm.operatorframework.io"
	// fieldManager owns the fields of ClusterObjectSets that this controller writes.
	fieldManager = client.FieldOwner("olm.operatorframework.io/clusterobjectset-controller")
)

// Controller reconciles ClusterObjectSets.
type Controller struct {
	client client.Client
	// live reads past the caches.
	live     client.Reader
	engine   *rollout.Engine
	accounts accounts
	watches  watcher
	metrics  *metrics.ClusterObjectSets
	memory   memory
	contents revision.Memory
	events   record.EventRecorder
	clock    clock.PassiveClock
	// kinds are those whose objects can be deleted, and the groups of which that is not known.
	kinds func(context.Context) (kinds []schema.GroupVersionKind, unknown []string, _ error)
	// count is how many custom resources of a definition there are, held what those with finalizers wait for.
	count crd.Count
	held  func(context.Context, client.Reader, *apiextensionsv1.CustomResourceDefinition) ([]string, error)
	// large is held while the content of a large set is in memory: one at a time.
	large sync.Mutex
	// policies judges the admission policies that sets rely on; nil requires none.
	policies *policies.Checker
	// namespace holds the Secrets that are referred to without one.
	namespace string
}

// accounts gives clients that act as a service account.
type accounts interface {
	Client(ctx context.Context, namespace, name string) (client.Client, error)
}

// Reconcile makes one pass over a ClusterObjectSet.
func (c *Controller) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	set := &olmv1.ClusterObjectSet{}
	err := c.client.Get(ctx, req.NamespacedName, set)
	switch {
	case apierrors.IsNotFound(err):
		c.forget(ctx, req.Name)
		c.metrics.Forget(req.Name)
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("read ClusterObjectSet %s: %w", req.Name, err)
	}
	defer c.alone(set)()
	if !revision.Active(set) {
		return c.takeOut(ctx, set)
	}
	if done, err := c.holdBack(ctx, set); !done {
		return reconcile.Result{}, err
	}
	return c.rollOut(ctx, set)
}

// largeSet is how many Secrets make a set large: a bundle of 4 MB has this many.
const largeSet = 5

// alone lets only one large set be worked on at a time, and returns what ends that.
func (c *Controller) alone(set *olmv1.ClusterObjectSet) (done func()) {
	if len(secretKeys(c.namespace)(set)) < largeSet {
		return func() {}
	}
	c.large.Lock()
	return c.large.Unlock
}

// holdBack makes sure that the set does not go before its objects. It returns false when the set has changed since it was read.
func (c *Controller) holdBack(ctx context.Context, set *olmv1.ClusterObjectSet) (done bool, _ error) {
	before := set.DeepCopy()
	if !controllerutil.AddFinalizer(set, olmv1.TeardownFinalizer) {
		return true, nil
	}
	if err := c.client.Patch(ctx, set, optimistic(before), fieldManager); err != nil {
		return false, unlessOutdated("add the finalizer to", set, err)
	}
	return true, nil
}

// letGo lets the set go, or an archived one be done with.
func (c *Controller) letGo(ctx context.Context, set *olmv1.ClusterObjectSet) error {
	c.forget(ctx, set.Name)
	c.contents.Forget(set.UID)
	before := set.DeepCopy()
	if !controllerutil.RemoveFinalizer(set, olmv1.TeardownFinalizer) {
		return nil
	}
	return unlessOutdated("remove the finalizer of", set, c.client.Patch(ctx, set, optimistic(before), fieldManager))
}

// forget drops what is kept for a set.
func (c *Controller) forget(ctx context.Context, name string) {
	c.memory.drop(name)
	c.watches.free(ctx, name)
}

// optimistic is a patch that fails when the object has changed since it was read.
func optimistic(before client.Object) client.Patch {
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}

// unlessOutdated is the error of a write; none when the set has changed or is gone since it was read: an event brings it here again.
func unlessOutdated(verb string, set *olmv1.ClusterObjectSet, err error) error {
	if err == nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return fmt.Errorf("%s ClusterObjectSet %s: %w", verb, set.Name, err)
}
