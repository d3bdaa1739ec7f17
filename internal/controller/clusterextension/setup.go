package clusterextension

import (
	"fmt"
	"sync"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"
)

// Setup adds the controller to the manager.
func Setup(mgr manager.Manager, o Options) error {
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client that asks the cluster for its version: %w", err)
	}
	kubernetes := &reconcile.ClusterVersion[semver.Version]{Server: server, Clock: o.Clock, Parse: version.ParseTolerant,
		Without: "requirements of bundles on it are not checked"}
	if o.Metrics == nil {
		o.Metrics = NewMetrics()
	}
	if o.Metrics, err = o.Metrics.Register(ctrlmetrics.Registry); err != nil {
		return fmt.Errorf("register the metrics of ClusterExtensions: %w", err)
	}
	//nolint:staticcheck // the same kind of Events as the other controllers make
	events := mgr.GetEventRecorderFor(eventSource)
	providers := &providers{kinds: mgr.GetRESTMapper(), clock: o.Clock}
	c := newController(&environment{Options: o, client: mgr.GetClient(), live: mgr.GetAPIReader(), events: events, kubernetes: kubernetes.Get,
		providers: providers.get, began: sync.OnceValue(o.Clock.Now), backs: &crd.Backs{Clock: o.Clock}, render: registryv1.Render})
	secrets, err := reconcile.AddCache(mgr, "Secrets with serving certificates", cache.Options{DefaultTransform: cache.TransformStripManagedFields(),
		DefaultLabelSelector: labels.SelectorFromSet(labels.Set{servingLabel: "true"})})
	if err != nil {
		return err
	}
	c.secrets = secrets
	o.Notify.controller = c
	o.Catalogs.OnChange(o.Notify.catalogChanged)
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	certificates := ctrlsource.Kind[client.Object](secrets, secret, handler.EnqueueRequestsFromMapFunc(keptFor), predicate.ResourceVersionChangedPredicate{})
	// List what leads to a pass.
	b := ctrl.NewControllerManagedBy(mgr).Named("clusterextension")
	own := builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, deleted))
	forbidden := reconcile.After(reconcile.Burst, c.interests.forbidden)
	return b.
		Watches(&olmv1.ClusterExtension{}, &handler.EnqueueRequestForObject{}, own).
		Watches(&olmv1.ClusterExtension{}, handler.EnqueueRequestsFromMapFunc(c.interests.open), builder.WithPredicates(installedChanged)).
		Watches(&v2.OperatorCondition{}, handler.EnqueueRequestsFromMapFunc(keptFor)).
		Watches(&olmv1.ClusterObjectSet{}, handler.EnqueueRequestsFromMapFunc(ownerOfRevision)).
		Watches(&olmv1.ClusterCatalog{}, handler.EnqueueRequestsFromMapFunc(c.interests.all), builder.WithPredicates(describedOtherwise)).
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(c.interests.forNamespace), builder.WithPredicates(comesOrGoes)).
		WatchesMetadata(&corev1.ServiceAccount{}, forbidden).
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(c.interests.forNamespace), builder.WithPredicates(reconcile.UpgradeRulesChanged)).
		Watches(&operatorsv1.OLMConfig{}, handler.EnqueueRequestsFromMapFunc(c.interests.all), builder.WithPredicates(reconcile.UpgradeRulesChanged)).
		Watches(&rbacv1.Role{}, forbidden).
		Watches(&rbacv1.ClusterRole{}, forbidden).
		Watches(&rbacv1.RoleBinding{}, forbidden).
		Watches(&rbacv1.ClusterRoleBinding{}, forbidden).
		WatchesRawSource(ctrlsource.Func(c.Notify.news.Start)).WatchesRawSource(certificates).WithOptions(reconcile.Options(workers)).Complete(c)
}
