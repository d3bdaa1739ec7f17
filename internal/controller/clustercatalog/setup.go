package clustercatalog

import (
	"context"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"
)

// workers is how many catalogs are looked after at once. None of them waits for a registry.
const workers = 4

// Options are what the controller works with.
type Options struct {
	Store   *image.Store
	Indexes *catalogstore.Cache
	// Catalogs are where contents are published, under snapshot.CatalogRef.
	Catalogs *catalogstore.Set
	// Serving says where catalogs are served over HTTP; nil when they are not.
	Serving *Serving
	// Credentials are those that all images of catalogs are pulled with.
	Credentials bundleio.Credentials
	// InUse reports whether content is served by another client, by its digest; nil is for no one.
	InUse func(digest string) bool
	Clock clock.PassiveClock
	// Policies reports changes of the signature policy; nil when there is none.
	Policies *image.PolicyWatch
}

// Setup adds the controller to the manager. It runs also while another manager leads.
func Setup(mgr manager.Manager, o Options) error {
	metadataOnly, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client that follows the pull secret of catalogs: %w", err)
	}
	conditions, err := metrics.Register(ctrlmetrics.Registry, metrics.NewConditions(olmv1.ClusterCatalogKind))
	if err != nil {
		return err
	}
	polls, err := metrics.Register(ctrlmetrics.Registry, metrics.NewPolls(olmv1.ClusterCatalogKind, false))
	if err != nil {
		return err
	}
	q := &queue{client: mgr.GetClient(), elected: mgr.Elected()}
	c := &Controller{
		client:      mgr.GetClient(),
		images:      catalogstore.ImageReader{Images: o.Store, Indexes: o.Indexes, V1: true},
		verifier:    o.Store,
		indexes:     o.Indexes,
		catalogs:    o.Catalogs,
		serving:     o.Serving,
		credentials: &credentials{from: o.Credentials, reader: mgr.GetAPIReader()},
		clock:       o.Clock,
		leads:       q.leads,
		remove:      o.remove,
		conditions:  conditions,
		polls:       polls,
		reads:       reads{finished: q.add, slots: make(chan struct{}, maxReads)},
	}
	q.follow = func(ctx context.Context) { c.credentials.follow(ctx, metadataOnly, func() { q.news.Tell(q.all) }) }
	if o.Policies != nil {
		o.Policies.OnChange(func() { q.news.Tell(q.all) })
	}
	options := reconcile.Options(workers)
	options.NeedLeaderElection = ptr.To(false)
	return ctrl.NewControllerManagedBy(mgr).
		Named("clustercatalog").
		For(&olmv1.ClusterCatalog{}).
		WatchesRawSource(ctrlsource.Func(q.start)).
		WithOptions(options).
		Complete(c)
}

// remove gives back the room of content that is not served any more. What cannot be removed is collected after a day (internal/manager/collect.go).
func (o Options) remove(ctx context.Context, digest string) {
	if o.InUse != nil && o.InUse(digest) {
		return
	}
	if err := o.Indexes.Remove(digest); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the index of a catalog that is served no more stays for a while", "digest", digest)
	}
	if err := o.Store.Remove(digest); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the image of a catalog that is served no more stays for a while", "digest", digest)
	}
}

// queue brings news that are no Kubernetes events to the controller: content that has arrived, and that this manager leads.
type queue struct {
	client  client.Reader
	elected <-chan struct{} // closed once this manager leads
	follow  func(context.Context)
	news    reconcile.Source
}

// start is called when the controller's queue is ready.
func (q *queue) start(ctx context.Context, to workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
	if err := q.news.Start(ctx, to); err != nil {
		return err
	}
	q.follow(ctx)
	go func() {
		select {
		case <-q.elected:
			q.news.Tell(q.all)
		case <-ctx.Done():
		}
	}()
	return nil
}

// leads reports whether this manager writes to the cluster.
func (q *queue) leads() bool {
	select {
	case <-q.elected:
		return true
	default:
		return false
	}
}

// add lets a catalog be reconciled.
func (q *queue) add(name string) {
	q.news.Add(ctrl.Request{NamespacedName: types.NamespacedName{Name: name}})
}

// all are the requests for all catalogs.
func (q *queue) all(ctx context.Context) []ctrl.Request {
	var all olmv1.ClusterCatalogList
	if err := q.client.List(ctx, &all); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the ClusterCatalogs, to requeue all of them")
		return nil
	}
	requests := make([]ctrl.Request, len(all.Items))
	for i := range all.Items {
		requests[i].Name = all.Items[i].Name
	}
	return requests
}
