package catalogsource

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/catalogcache"
	"fairlead.dev/fairlead/internal/catalogset"
	"fairlead.dev/fairlead/internal/image"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// fieldOwner is the field manager of all that the controller writes.
const fieldOwner = client.FieldOwner("fairlead-catalogsource")

// workers is how many catalogs are loaded at once.
const workers = 4

// Options are what the controller works with.
type Options struct {
	Store    *image.Store
	Indexes  *catalogcache.Cache
	Catalogs *catalogset.Set
	Clock    clock.Clock
}

// Controller keeps the catalogset in step with the CatalogSources.
type Controller struct {
	client   client.Client
	reader   client.Reader // uncached: pull secrets are read when they are needed and not kept
	loader   loader
	catalogs *catalogset.Set
	clock    clock.Clock
	memory   memory
}

// Setup adds the controller to the manager.
func Setup(mgr manager.Manager, o Options) error {
	c := &Controller{
		client:   mgr.GetClient(),
		reader:   mgr.GetAPIReader(),
		loader:   imageLoader{store: o.Store, cache: o.Indexes},
		catalogs: o.Catalogs,
		clock:    o.Clock,
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("catalogsource").
		For(&v1alpha1.CatalogSource{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(c)
}

// Reconcile loads what is due to be loaded, publishes it, and reports.
func (c *Controller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	ref := catalogset.Ref{Namespace: request.Namespace, Name: request.Name}
	var source v1alpha1.CatalogSource
	if err := c.client.Get(ctx, request.NamespacedName, &source); err != nil {
		if client.IgnoreNotFound(err) == nil {
			c.catalogs.Withdraw(ref)
			c.memory.forget(ref)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !source.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	known := c.memory.recall(ref, &source)
	if next, ever := due(&source, known); !ever || next.After(c.clock.Now()) {
		return c.waiting(next, ever), c.report(ctx, &source, known)
	}
	known = c.look(ctx, &source, known)
	c.memory.keep(ref, known)
	c.catalogs.Publish(ref, known.entry())
	if err := c.report(ctx, &source, known); err != nil {
		return ctrl.Result{}, err
	}
	return c.waiting(due(&source, known)), nil
}

// waiting asks to be called again when the catalog is next to be looked at.
func (c *Controller) waiting(next time.Time, ever bool) ctrl.Result {
	if !ever {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: max(next.Sub(c.clock.Now()), minimumPause)}
}

// report writes the status when it says something new.
func (c *Controller) report(ctx context.Context, source *v1alpha1.CatalogSource, known content) error {
	before := source.DeepCopy()
	source.Status = status(before, known)
	if equality.Semantic.DeepEqual(before.Status, source.Status) {
		return nil
	}
	if err := c.client.Status().Patch(ctx, source, client.MergeFrom(before), fieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write the status of CatalogSource %s/%s: %w", source.Namespace, source.Name, err)
	}
	return nil
}
