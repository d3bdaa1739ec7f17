package subscription

import (
	"context"
	"fmt"
	"slices"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"
)

// settle is how long the events of a namespace are gathered: its objects change together.
const settle = 100 * time.Millisecond

// Setup adds the controller to the manager.
func Setup(mgr manager.Manager, o Options) error {
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client that asks the cluster for its version: %w", err)
	}
	kubernetes := clusterVersion(server, o.Clock)
	if o.Metrics == nil {
		o.Metrics = metrics.NewSubscriptions()
	}
	if o.Metrics, err = metrics.Register(ctrlmetrics.Registry, o.Metrics); err != nil {
		return err
	}
	//nolint:staticcheck // the same kind of Events as the other controllers make, and as the field's tools look for
	events := mgr.GetEventRecorderFor(eventSource)
	c := &Controller{Options: o, client: mgr.GetClient(), live: mgr.GetAPIReader(), events: events, kubernetes: kubernetes.Get, judgements: &judgements{}, written: &reconcile.StatusMemory[v1alpha1.SubscriptionStatus]{}}
	o.Notify.client = mgr.GetClient()
	o.Notify.global = o.GlobalNamespace
	o.Catalogs.OnChange(func(ref catalog.Ref) { o.Notify.enqueue(ref.Namespace) })
	subscribers := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, source client.Object) []ctrl.Request {
		return o.Notify.requests(ctx, source.GetNamespace())
	})
	namespace := reconcile.After(settle, c.namespaceOf)
	own := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{}))
	return ctrl.NewControllerManagedBy(mgr).
		Named("subscription").
		Watches(&v1alpha1.Subscription{}, namespace).
		Watches(&v1alpha1.ClusterServiceVersion{}, namespace).
		Watches(&v1alpha1.InstallPlan{}, namespace).
		Watches(&operatorsv1.OperatorGroup{}, namespace, own).
		Watches(&v1alpha1.CatalogSource{}, subscribers, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(c.upgradesIn), builder.WithPredicates(reconcile.UpgradeRulesChanged)).
		Watches(&operatorsv1.OLMConfig{}, handler.EnqueueRequestsFromMapFunc(c.upgradesIn), builder.WithPredicates(reconcile.UpgradeRulesChanged)).
		WatchesRawSource(ctrlsource.Func(o.Notify.news.Start)).
		WithOptions(reconcile.Options(workers)).
		Complete(c)
}

// namespaceOf wakes up the namespace of an object.
func (c *Controller) namespaceOf(_ context.Context, object client.Object) []ctrl.Request {
	return c.requests(object.GetNamespace())
}

// upgradesIn wakes up the namespaces for which an object says when upgrades begin: that which it is, or all.
func (c *Controller) upgradesIn(ctx context.Context, o client.Object) []ctrl.Request {
	if _, all := o.(*operatorsv1.OLMConfig); all {
		return c.Notify.requests(ctx, "")
	}
	return c.requests(o.GetName())
}

// requests are those of a namespace that is not left to another manager.
func (c *Controller) requests(name string) []ctrl.Request {
	if len(c.Namespaces) > 0 && name != c.GlobalNamespace && !slices.Contains(c.Namespaces, name) {
		return nil
	}
	return []ctrl.Request{forNamespace(name)}
}

func forNamespace(name string) ctrl.Request {
	return ctrl.Request{NamespacedName: types.NamespacedName{Namespace: name, Name: "subscriptions"}}
}

// Notifier brings news that are no Kubernetes events, such as new catalog content and bundles that have arrived, to the controller.
type Notifier struct {
	client client.Reader
	global string
	news   reconcile.Source
}

// BundleArrived requeues every namespace that has Subscriptions: which of them waits is cheap to find out.
func (n *Notifier) BundleArrived() { n.enqueue("") }

// enqueue adds the namespaces that can see the catalogs of one; of none is all that have Subscriptions.
func (n *Notifier) enqueue(namespace string) {
	n.news.Tell(func(ctx context.Context) []ctrl.Request { return n.requests(ctx, namespace) })
}

func (n *Notifier) requests(ctx context.Context, namespace string) []ctrl.Request {
	if namespace != "" && namespace != n.global {
		return []ctrl.Request{forNamespace(namespace)}
	}
	var all v1alpha1.SubscriptionList
	if err := n.client.List(ctx, &all); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the Subscriptions that a change concerns")
		return nil
	}
	seen := map[string]bool{}
	var requests []ctrl.Request
	for i := range all.Items {
		if ns := all.Items[i].Namespace; !seen[ns] {
			seen[ns] = true
			requests = append(requests, forNamespace(ns))
		}
	}
	return requests
}

// clusterVersion remembers the version of the cluster; zero when it is not known.
func clusterVersion(server discovery.ServerVersionInterface, clock clock.PassiveClock) *reconcile.ClusterVersion[semver.Version] {
	return &reconcile.ClusterVersion[semver.Version]{Server: server, Clock: clock, Parse: version.ParseTolerant,
		Without: "requirements of operators on it are not checked"}
}
