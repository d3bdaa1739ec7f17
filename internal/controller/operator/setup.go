package operator

import (
	"context"
	"fmt"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

const (
	// eventSource is the documented source of Events.
	eventSource = "operator-lifecycle-manager"
	// settling is how long after a change of a component its Operator is reconciled: the components of an operator come in a burst, and an Operator is
	// promised within a second of the first.
	settling = time.Second / 2
	workers  = 2
)

// index is one cache index.
type index struct {
	in     client.FieldIndexer
	object client.Object
	name   string
	values client.IndexerFunc
}

// Setup adds the controller, its watches and its cache to the manager. The namespaces are those that the manager is limited to; none when it
// manages all.
func Setup(mgr manager.Manager, namespaces []string) error {
	// Add a cache to the manager for the kinds that the manager's caches hold only in part. It holds little of each object.
	options := cache.Options{DefaultTransform: trim, NewInformer: reconcile.NewPagedInformer}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	own, err := reconcile.AddCache(mgr, "components", options)
	if err != nil {
		return err
	}
	for _, i := range indexes(mgr.GetFieldIndexer(), own) {
		if err := i.in.IndexField(context.Background(), i.object, i.name, i.values); err != nil {
			return fmt.Errorf("index %T by %s: %w", i.object, i.name, err)
		}
	}
	c := &Controller{
		client:     mgr.GetClient(),
		own:        own,
		namespaces: namespaces,
		clock:      clock.RealClock{},
		//nolint:staticcheck // The newer recorder has no source, and the source of these Events is documented.
		events: mgr.GetEventRecorderFor(eventSource),
	}
	b := builder.ControllerManagedBy(mgr).Named("operator").For(&v1.Operator{})
	for _, k := range kinds {
		from := mgr.GetCache()
		if k.own {
			from = own
		}
		b = b.WatchesRawSource(source.Kind(from, k.object(), c.wake(k)))
	}
	if err := b.WithOptions(reconcile.Options(workers)).Complete(c); err != nil {
		return fmt.Errorf("set up the Operator controller: %w", err)
	}
	return nil
}

// indexes are those of the manager's caches and of the controller's own.
func indexes(managers, own client.FieldIndexer) []index {
	out := []index{
		{managers, &v1.Operator{}, indexByName, func(o client.Object) []string { return []string{v1alpha1.ComponentName(o.GetName())} }},
		{managers, &v1alpha1.Subscription{}, indexByPackage, func(o client.Object) []string {
			if name := packageName(o); name != "" {
				return []string{v1alpha1.ComponentName(name)}
			}
			return nil
		}},
		{managers, &v1alpha1.Subscription{}, indexByOutcome, byOutcome},
		{managers, &v1alpha1.ClusterServiceVersion{}, indexByCRD, byCRD},
	}
	for _, k := range kinds {
		in := managers
		if k.own {
			in = own
		}
		out = append(out, index{in, k.object(), indexByOperator, labelled}, index{in, k.object(), indexByOwner, func(o client.Object) []string {
			var names []string
			for _, owner := range owners(o) {
				names = append(names, owner.String())
			}
			return names
		}})
	}
	return out
}
