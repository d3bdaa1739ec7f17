package copiedcsv

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// settling is how long after a change of its source a copy is reconciled, so that a few changes are one write.
const settling = time.Second

// defaultWorkers is how many copies are written at a time.
const defaultWorkers = 8

// Options are what the controller needs besides the manager. The zero value works.
type Options struct {
	// Clock tells the time; the real one when nil.
	Clock clock.PassiveClock
	// Namespaces are those that the manager is limited to; empty when it manages all. Copies are made from these; the copies
	// from others are left to their own managers.
	Namespaces []string
	// Protected are namespaces that have copies even where copying is disabled.
	Protected []string
	// Workers is how many copies are written at a time; a few when zero.
	Workers int
}

// Setup adds the controllers, their watches, and the cache of copies to the manager.
func Setup(mgr manager.Manager, o Options) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("set up the controller of copied ClusterServiceVersions: %w", err)
		}
	}()
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	for _, i := range indexes() {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), i.object, i.name, i.values); err != nil {
			return fmt.Errorf("index %T by %s: %w", i.object, i.name, err)
		}
	}
	// Add a cache of the metadata of copies to the manager.
	options, err := copiesOptions(o.Namespaces)
	if err != nil {
		return err
	}
	copies, err := reconcile.AddCache(mgr, "copies", options)
	if err != nil {
		return err
	}
	if err := copies.IndexField(context.Background(), emptyCopy(), indexBySource, sourceKey); err != nil {
		return fmt.Errorf("index copies by %s: %w", indexBySource, err)
	}
	wire, err := newWire(mgr.GetConfig(), mgr.GetHTTPClient(), mgr.GetScheme())
	if err != nil {
		return err
	}
	c := &Controller{client: mgr.GetClient(), copies: copies, writer: wire, limits: limits{namespaces: o.Namespaces, protected: o.Protected}, clock: o.Clock}
	// What wakes a copy up.
	later := func(f handler.MapFunc) handler.EventHandler { return reconcile.After(settling, f) }
	soon := func(f handler.MapFunc) handler.EventHandler { return reconcile.After(reconcile.Burst, f) }
	if err := builder.ControllerManagedBy(mgr).Named("copiedcsv").
		WatchesRawSource(source.Kind[client.Object](copies, emptyCopy(), handler.EnqueueRequestsFromMapFunc(itself))).
		Watches(&v1alpha1.ClusterServiceVersion{}, later(c.copiesOf)).
		Watches(&v1.OperatorGroup{}, soon(c.copiesOfEach), builder.WithPredicates(targetsMatter)).
		Watches(&v1.OLMConfig{}, soon(c.copiesOfEach)).
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(c.copiesFor), builder.WithPredicates(appears)).
		WithOptions(reconcile.Options(o.Workers)).
		Complete(c); err != nil {
		return err
	}
	return (&reporter{c: c, clock: o.Clock}).watch(mgr, copies)
}

// watch says what wakes the reporter up.
func (r *reporter) watch(mgr manager.Manager, copies cache.Cache) error {
	config := func(context.Context, client.Object) []ctrl.Request {
		return []ctrl.Request{{NamespacedName: client.ObjectKey{Name: v1.OLMConfigName}}}
	}
	later := reconcile.After(settling, config)
	return builder.ControllerManagedBy(mgr).Named("olmconfig").
		Watches(&v1.OLMConfig{}, handler.EnqueueRequestsFromMapFunc(config)).
		WatchesRawSource(source.Kind[client.Object](copies, emptyCopy(), later, comesOrGoes)).
		Watches(&v1alpha1.ClusterServiceVersion{}, later).
		Watches(&v1.OperatorGroup{}, later, builder.WithPredicates(targetsMatter)).
		WatchesMetadata(&corev1.Namespace{}, later, builder.WithPredicates(comesOrGoes)).
		WithOptions(reconcile.Options(1)).
		Complete(r)
}
