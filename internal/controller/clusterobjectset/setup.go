package clusterobjectset

import (
	"context"
	"fmt"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

const (
	// workers is how many sets are worked on at a time. Each may hold the content of a whole bundle.
	workers = 4
	// eventSource is the source of Events.
	eventSource = "fairlead-clusterobjectset"
	// indexBySecret is the cache index of ClusterObjectSets by the Secrets that they refer to.
	indexBySecret = "clusterobjectset.secret"
)

// Options are what the controller needs besides the manager.
type Options struct {
	// SystemNamespace holds the Secrets that are referred to without a namespace.
	SystemNamespace string
	// Policies judges the admission policies that sets rely on; nil requires none.
	Policies *permissions.PolicyChecker
	// StableAfter is how long a workload without a readiness probe has to be available without a restart until a rollout has succeeded:
	// rollout.DefaultStableAfter when zero, not at all when less.
	StableAfter time.Duration
	// Clock tells the time; the real one when nil.
	Clock clock.PassiveClock
}

// Setup adds the controller, its watches and its caches to the manager.
func Setup(mgr manager.Manager, o Options) error {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.StableAfter == 0 {
		o.StableAfter = rollout.DefaultStableAfter
	}
	for name, values := range map[string]client.IndexerFunc{indexByOwner: ownerKeys, indexBySecret: secretKeys(o.SystemNamespace)} {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), &olmv1.ClusterObjectSet{}, name, values); err != nil {
			return fmt.Errorf("index ClusterObjectSets by %s: %w", name, err)
		}
	}
	objects, err := reconcile.AddCache(mgr, "the objects of ClusterObjectSets", cache.Options{DefaultTransform: trim, DefaultLabelSelector: labels.SelectorFromSet(labels.Set{managedByLabel: managedByValue})})
	if err != nil {
		return err
	}
	secrets, err := reconcile.AddCache(mgr, "the Secrets of ClusterObjectSets", cache.Options{DefaultTransform: trim, DefaultFieldSelector: fields.OneTermEqualSelector("type", olmv1.SecretTypeObjectData)})
	if err != nil {
		return err
	}
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client that asks the cluster for its kinds: %w", err)
	}
	counts := metrics.NewClusterObjectSets(states...)
	if err := counts.Register(ctrlmetrics.Registry); err != nil {
		return fmt.Errorf("register the metrics of ClusterObjectSets: %w", err)
	}
	w := newWatches(objects)
	c := newController(&environment{
		client:    mgr.GetClient(),
		live:      mgr.GetAPIReader(),
		engine:    &rollout.Engine{Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), FieldManager: objectManager},
		accounts:  rollout.NewAccounts(mgr.GetConfig(), mgr.GetClient(), o.Clock),
		watches:   w,
		events:    mgr.GetEventRecorderFor(eventSource), //nolint:staticcheck // The newer recorder has no source.
		clock:     o.Clock,
		metrics:   counts,
		kinds:     deletable(server),
		held:      crd.Held,
		namespace: o.SystemNamespace, stableAfter: o.StableAfter,
		policies: o.Policies,
	})
	err = builder.ControllerManagedBy(mgr).Named("clusterobjectset").For(&olmv1.ClusterObjectSet{}).
		WatchesRawSource(source.Func(func(_ context.Context, q queue) error { w.queue = q; return nil })).
		WatchesRawSource(source.Kind[client.Object](secrets, metadataOf(secretKind), c.secretEvents(w))).
		WithOptions(reconcile.Options(workers)).Complete(c)
	if err != nil {
		return fmt.Errorf("set up the ClusterObjectSet controller: %w", err)
	}
	return nil
}

// secretKeys are the keys of indexBySecret.
func secretKeys(namespace string) client.IndexerFunc {
	return func(o client.Object) []string {
		set, ok := o.(*olmv1.ClusterObjectSet)
		if !ok {
			return nil
		}
		seen := map[string]bool{}
		var out []string
		for _, p := range set.Spec.Phases {
			for _, object := range p.Objects {
				if object.Ref == nil {
					continue
				}
				key := types.NamespacedName{Namespace: object.Ref.Namespace, Name: object.Ref.Name}
				if key.Namespace == "" {
					key.Namespace = namespace
				}
				if !seen[key.String()] {
					seen[key.String()] = true
					out = append(out, key.String())
				}
			}
		}
		return out
	}
}

// secretEvents keeps the versions of Secrets with objects, and wakes the sets that refer to them.
func (c *Controller) secretEvents(w *watches) handler.EventHandler {
	changed := func(ctx context.Context, o client.Object, version string, q queue) {
		name := client.ObjectKeyFromObject(o)
		w.mu.Lock()
		w.secrets[name] = version // one that is gone is remembered as long as a set may refer to it
		w.mu.Unlock()
		var sets olmv1.ClusterObjectSetList
		if err := c.client.List(ctx, &sets, client.MatchingFields{indexBySecret: name.String()}, client.UnsafeDisableDeepCopy); err != nil {
			return // the manager is shutting down
		}
		if version == "" && len(sets.Items) == 0 {
			w.mu.Lock()
			delete(w.secrets, name)
			w.mu.Unlock()
		}
		for i := range sets.Items {
			q.AddAfter(ctrl.Request{NamespacedName: types.NamespacedName{Name: sets.Items[i].Name}}, settling)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			changed(ctx, e.Object, e.Object.GetResourceVersion(), q)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			changed(ctx, e.ObjectNew, e.ObjectNew.GetResourceVersion(), q)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { changed(ctx, e.Object, "", q) },
	}
}
