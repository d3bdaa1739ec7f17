package catalogsource

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
)

// workers is how many catalogs are looked after at once. None of them waits for a registry for long.
const workers = 8

// Options are what the controller works with.
type Options struct {
	Store    *image.Store
	Indexes  *catalogstore.Cache
	Catalogs *catalogstore.Set
	Clock    clock.Clock
	// Records is a directory for notes about what was served last; empty for none.
	Records string
	// Metrics counts what the controller does; nil for metrics of its own, in the registry of the manager.
	Metrics *metrics.CatalogSources
	// Policies reports changes of the signature policy; nil when there is none.
	Policies *image.PolicyWatch
	// Pods says which images are run.
	Pods PodOptions
	// TLS returns how one connection to a server of a catalog speaks TLS; nil leaves it to Go.
	TLS func() *tls.Config
	// Turns bound what reading catalogs of servers takes; those of all readers in a process.
	Turns *grpccatalog.Turns
	// Serving says where catalogs are served over gRPC; nil when they are not.
	Serving *Serving
}

// Setup adds the controller to the manager.
func Setup(mgr manager.Manager, o Options) error {
	counted, err := metrics.Register(ctrlmetrics.Registry, cmp.Or(o.Metrics, metrics.NewCatalogSources()))
	if err != nil {
		return err
	}
	polls, err := metrics.Register(ctrlmetrics.Registry, metrics.NewPolls(v1alpha1.CatalogSourceKind, true))
	if err != nil {
		return err
	}
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client that asks the cluster for its version: %w", err)
	}
	metadataOnly, err := metadata.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client that follows the Secrets of catalogs: %w", err)
	}
	q := &queue{}
	l := &links{changed: q.add, clock: o.Clock, dial: func(address string, authorities []byte) (remote, error) {
		return grpccatalog.Dial(address, grpccatalog.Options{Authorities: authorities, TLS: o.TLS, Turns: o.Turns, Memory: o.Indexes.Limits.MemoryBytes})
	}}
	read := catalogstore.ImageReader{Images: o.Store, Indexes: o.Indexes}
	remotes := addresses{links: l, indexes: o.Indexes, secrets: mgr.GetAPIReader(), clock: o.Clock}
	c := &Controller{
		client:     mgr.GetClient(),
		images:     images{reader: read, secrets: mgr.GetAPIReader(), verifier: o.Store},
		verifier:   o.Store,
		configMaps: configMaps{live: mgr.GetAPIReader(), client: mgr.GetClient(), indexes: o.Indexes, clock: o.Clock},
		addresses:  remotes,
		pods: &pods{always: o.Pods.Always, reader: read, secrets: mgr.GetAPIReader(), verifier: o.Store, server: remotes,
			events: mgr.GetEventRecorderFor("operator-lifecycle-manager"), //nolint:staticcheck // the events of all kinds are of the older API
			keeper: &grpccatalog.Keeper{Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), FieldOwner: string(fieldOwner), Settings: o.Pods.Settings}},
		links: l,
		secrets: &secrets{changed: q.add, watch: func(ctx context.Context, namespace, name string, changed func()) {
			reconcile.WatchSecret(ctx, metadataOnly, namespace, name, changed)
		}},
		services: &services{Serving: o.Serving, client: mgr.GetClient(), changed: q.add,
			peers:  &peers{reader: mgr.GetAPIReader(), call: callTCP, clock: o.Clock},
			engine: &rollout.Engine{Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), FieldManager: string(fieldOwner)}},
		cluster:  clusterVersion(server, o.Clock),
		metrics:  counted,
		polls:    polls,
		records:  records{dir: o.Records, indexes: o.Indexes, verifier: o.Store},
		catalogs: o.Catalogs,
		clock:    o.Clock,
		grace:    grace,
		waiting:  make(chan struct{}, workers/2),
		loads:    loads{finished: q.add, slots: make(chan struct{}, maxLoads)},

		verifications: loads{finished: q.add, slots: make(chan struct{}, maxLoads)},
	}
	if o.Policies != nil {
		o.Policies.OnChange(func() {
			q.Tell(func(ctx context.Context) []ctrl.Request {
				return c.requests(ctx, "list the CatalogSources that a change of the signature policy concerns; they are verified at their next poll",
					func(source *v1alpha1.CatalogSource) bool { return source.Spec.Image != "" })
			})
		})
	}
	usingConfigMap := func(ctx context.Context, object client.Object) []ctrl.Request {
		return c.requests(ctx, "list the CatalogSources that a ConfigMap of namespace "+object.GetNamespace()+" concerns", func(source *v1alpha1.CatalogSource) bool {
			return isConfigMap(source) && source.Spec.ConfigMap == object.GetName()
		}, client.InNamespace(object.GetNamespace()))
	}
	if err := mgr.Add(manager.RunnableFunc(c.closeWhenDone)); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("catalogsource").
		For(&v1alpha1.CatalogSource{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Owns(&corev1.Service{}).
		Owns(&discoveryv1.EndpointSlice{}, builder.OnlyMetadata).
		Owns(&corev1.Pod{}, builder.OnlyMetadata).
		Owns(&corev1.ServiceAccount{}, builder.OnlyMetadata).
		Owns(&networkingv1.NetworkPolicy{}, builder.OnlyMetadata).
		WatchesMetadata(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(usingConfigMap)).
		WatchesRawSource(ctrlsource.Func(q.Start)).
		WithOptions(reconcile.Options(workers)).
		Complete(c)
}

// CacheOptions limit the caches to what concerns catalogs.
func CacheOptions() map[client.Object]cache.ByObject {
	managed := labels.SelectorFromSet(labels.Set{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue})
	marked, err := labels.NewRequirement(v1alpha1.ManagedLabel, selection.Exists, nil)
	if err != nil {
		panic(err) // only a malformed label, which is a constant
	}
	return map[client.Object]cache.ByObject{
		&discoveryv1.EndpointSlice{}:  {Label: managed},
		&corev1.Pod{}:                 {Label: managed},
		&networkingv1.NetworkPolicy{}: {Label: managed},
		&corev1.ConfigMap{}:           {Label: labels.NewSelector().Add(*marked)},
	}
}

// closeWhenDone ends what the controller has open when the manager stops.
func (c *Controller) closeWhenDone(ctx context.Context) error {
	<-ctx.Done()
	c.links.closeAll()
	c.secrets.stop()
	return nil
}

// requests are those for the catalogs that an event concerns. The message is logged where they cannot be listed.
func (c *Controller) requests(ctx context.Context, message string, which func(*v1alpha1.CatalogSource) bool, options ...client.ListOption) []ctrl.Request {
	var all v1alpha1.CatalogSourceList
	if err := c.client.List(ctx, &all, options...); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, message)
		return nil
	}
	var requests []ctrl.Request
	for i := range all.Items {
		if source := &all.Items[i]; which(source) {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(source)})
		}
	}
	return requests
}

// queue brings news that are no Kubernetes events, such as content that has arrived, to the controller.
type queue struct{ reconcile.Source }

// add lets a catalog be reconciled.
func (q *queue) add(ref catalog.Ref) {
	q.Add(ctrl.Request{NamespacedName: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}})
}
