package clusterobjectset

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/permissions"
	"fairlead.dev/fairlead/internal/rollout/revision"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	// objectManager owns the fields of the objects of revisions.
	objectManager = "olm.operatorframework.io"
	// fieldManager owns the fields of ClusterObjectSets that this controller writes.
	fieldManager = client.FieldOwner("olm.operatorframework.io/clusterobjectset-controller")
)

// environment is what the steps of a pass work with. Setup makes it, and no pass changes it.
type environment struct {
	client client.Client
	// live reads past the caches.
	live     client.Reader
	engine   *rollout.Engine
	accounts accounts
	watches  watcher
	metrics  *metrics.ClusterObjectSets
	events   record.EventRecorder
	clock    clock.PassiveClock
	// kinds are those whose objects can be deleted, and the groups of which that is not known.
	kinds func(context.Context) (kinds []schema.GroupVersionKind, unknown []string, _ error)
	// count is how many custom resources of a definition there are, held what those with finalizers wait for.
	count crd.Count
	held  func(context.Context, client.Reader, *apiextensionsv1.CustomResourceDefinition) ([]string, error)
	// policies judges the admission policies that sets rely on; nil requires none.
	policies *permissions.PolicyChecker
	// stableAfter is how long a workload without a readiness probe has to be available without a restart; 0 is not at all.
	stableAfter time.Duration
	// namespace holds the Secrets that are referred to without one.
	namespace string
}

// Controller reconciles ClusterObjectSets. The steps of a pass are its parts.
type Controller struct {
	*environment
	identities *identities
	contents   *contents
	converters *converters
	keeper     *keeper
	handover   *handover
	reporter   *reporter
	memory     memory
	// large is held while the content of a large set is in memory: one at a time.
	large sync.Mutex
}

func newController(env *environment) *Controller {
	c := &Controller{environment: env, identities: &identities{env}, keeper: &keeper{env}}
	c.reporter = &reporter{environment: env,
		status: reconcile.StatusWriter[*olmv1.ClusterObjectSet, olmv1.ClusterObjectSetStatus]{Client: env.client, Owner: fieldManager, Optimistic: true,
			Memory: &reconcile.StatusMemory[olmv1.ClusterObjectSetStatus]{},
			Status: func(set *olmv1.ClusterObjectSet) *olmv1.ClusterObjectSetStatus { return &set.Status },
			States: func(s *olmv1.ClusterObjectSetStatus) []reconcile.State {
				return reconcile.Conditions(s.Conditions, reconcile.TypeReady)
			}}}
	c.contents = &contents{environment: env, identities: c.identities}
	c.converters = &converters{env, c.contents}
	c.handover = &handover{env, c.contents}
	return c
}

// accounts gives clients that act as a service account.
type accounts interface {
	Client(ctx context.Context, namespace, name string) (client.Client, error)
}

// Reconcile makes one pass over a ClusterObjectSet.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return reconcile.Typed[*olmv1.ClusterObjectSet]{Client: c.client, Step: c.step, Deleting: c.step,
		Gone: func(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
			c.forget(ctx, key.Name)
			c.metrics.Forget(key.Name)
			c.reporter.status.Memory.Forget(key)
			return ctrl.Result{}, nil
		}}.Reconcile(ctx, request)
}

func (c *Controller) step(ctx context.Context, set *olmv1.ClusterObjectSet) (ctrl.Result, error) {
	if len(secretKeys(c.namespace)(set)) >= largeSet {
		c.large.Lock()
		defer c.large.Unlock()
	}
	if !revision.Active(set) {
		return c.takeOut(ctx, set)
	}
	if before := set.DeepCopy(); controllerutil.AddFinalizer(set, olmv1.TeardownFinalizer) { // the set does not go before its objects
		if err := c.client.Patch(ctx, set, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldManager); err != nil {
			return ctrl.Result{}, unlessOutdated("add the finalizer to", set, err)
		}
	}
	// Apply the objects of the set as far as that gets.
	f, err := c.familyOf(ctx, set)
	if err != nil {
		return ctrl.Result{}, err
	}
	known := c.memory.of(set)
	o := outcome{}
	if !known.check(c.watches) || !known.complete() {
		var done bool
		if o, done = c.bringAbout(ctx, f, known); !done {
			return ctrl.Result{}, o.err // the set has changed
		}
	}
	o.complete = o.err == nil && known.complete()
	o.transition = slices.ContainsFunc(known.phases, func(p []entry) bool { // later revisions keep some of the objects
		return slices.ContainsFunc(p, func(e entry) bool { return e.left })
	})
	return c.conclude(ctx, f, o)
}

// largeSet is how many Secrets make a set large: a bundle of 4 MB has this many.
const largeSet = 5

// removeFinalizer releases a set that is deleted or archived.
func (c *Controller) removeFinalizer(ctx context.Context, set *olmv1.ClusterObjectSet) error {
	c.forget(ctx, set.Name)
	c.contents.cache.Forget(set.UID)
	before := set.DeepCopy()
	if !controllerutil.RemoveFinalizer(set, olmv1.TeardownFinalizer) {
		return nil
	}
	reconcile.Log(ctx, set).Info("removed", "reason", "nothing of it is left, or what is left stays")
	err := c.client.Patch(ctx, set, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), fieldManager)
	return unlessOutdated("remove the finalizer of", set, err)
}

// forget drops what is kept for a set.
func (c *Controller) forget(ctx context.Context, name string) {
	c.memory.mu.Lock()
	delete(c.memory.sets, name)
	c.memory.mu.Unlock()
	c.watches.free(ctx, name)
}

// unlessOutdated is the error of a write; none when the set has changed or is gone since it was read: an event brings it here again.
func unlessOutdated(verb string, set *olmv1.ClusterObjectSet, err error) error {
	if err == nil || reconcile.IsOutdated(err) {
		return nil
	}
	return fmt.Errorf("%s ClusterObjectSet %s: %w", verb, set.Name, err)
}
