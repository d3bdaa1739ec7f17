package clusterserviceversion

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/discovery"
	toolscache "k8s.io/client-go/tools/cache"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/serving"
)

const (
	// DefaultInstallTimeout is the time that the components of an operator have to become healthy.
	DefaultInstallTimeout = 5 * time.Minute
	// defaultWorkers is how many ClusterServiceVersions are reconciled at a time.
	defaultWorkers = 4
	// eventSource is the documented source of the Events.
	eventSource = "operator-lifecycle-manager"
)

// Options are what the controller needs besides the manager. The zero value works.
type Options struct {
	// Clock is the time; the real one when nil.
	Clock clock.PassiveClock
	// Namespaces are those that the manager is limited to; empty when it manages all.
	Namespaces []string
	// InstallTimeout is the time to become healthy after an install; DefaultInstallTimeout when zero.
	InstallTimeout time.Duration
	// StableAfter is how long an operator without a readiness probe has to be available without a restart until it has succeeded: rollout.DefaultStableAfter
	// when zero, not at all when less.
	StableAfter time.Duration
	// CertificateLife is how long serving certificates are valid; serving.DefaultLife when zero.
	CertificateLife time.Duration
	// Dial reaches the pods of operators, to check the certificates that they show; nil where the manager cannot, outside of the cluster.
	Dial Dial
	// Workers is how many ClusterServiceVersions are reconciled at a time; a few when zero.
	Workers int
}

// Setup adds the controller, its watches and the indexes it reads to the manager.
func Setup(mgr manager.Manager, o Options) error {
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.InstallTimeout <= 0 {
		o.InstallTimeout = DefaultInstallTimeout
	}
	if o.StableAfter == 0 {
		o.StableAfter = rollout.DefaultStableAfter
	}
	if o.CertificateLife <= 0 {
		o.CertificateLife = serving.DefaultLife
	}
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	for _, i := range indexes() {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), i.object, i.name, i.values); err != nil {
			return fmt.Errorf("set up the ClusterServiceVersion controller: index %T by %s: %w", i.object, i.name, err)
		}
	}
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("set up the ClusterServiceVersion controller: make a client for the version of the cluster: %w", err)
	}
	counted, err := metrics.Register(ctrlmetrics.Registry, metrics.NewClusterServiceVersions())
	if err != nil {
		return fmt.Errorf("set up the ClusterServiceVersion controller: %w", err)
	}
	c := &Controller{
		counted:  counted,
		client:   mgr.GetClient(),
		live:     mgr.GetAPIReader(),
		accounts: rollout.NewAccounts(mgr.GetConfig(), mgr.GetClient(), o.Clock),
		mapper:   mgr.GetRESTMapper(),
		server:   &reconcile.VersionServer{Server: server, Clock: o.Clock},
		//nolint:staticcheck // The newer recorder has no source, and the source of these Events is documented.
		events: mgr.GetEventRecorderFor(eventSource),
		clock:  o.Clock,
		dial:   o.Dial,
		limits: limits{install: o.InstallTimeout, stable: o.StableAfter, certificate: o.CertificateLife, namespaces: o.Namespaces},
	}
	if err := c.watch(mgr, o); err != nil {
		return fmt.Errorf("set up the ClusterServiceVersion controller: %w", err)
	}
	return nil
}

func (c *Controller) triggers() *triggers {
	return &triggers{cache: c.client, namespaces: c.limits.namespaces, proxy: &c.proxy}
}

// watch declares which events wake a ClusterServiceVersion up.
func (c *Controller) watch(mgr manager.Manager, o Options) error {
	t, to := c.triggers(), handler.EnqueueRequestsFromMapFunc
	burst := func(f handler.MapFunc) handler.EventHandler { return reconcile.After(reconcile.Burst, f) }
	original := predicate.NewPredicateFuncs(func(o client.Object) bool { return !v1alpha1.IsCopied(o) })
	built, err := builder.ControllerManagedBy(mgr).Named("clusterserviceversion").
		For(&v1alpha1.ClusterServiceVersion{}, builder.WithPredicates(original)).
		Watches(&v1alpha1.ClusterServiceVersion{}, to(t.neighbours), builder.WithPredicates(matterToNeighbours)).
		Watches(&v1alpha1.Subscription{}, to(t.subscribed), builder.WithPredicates(configMatters)).
		Watches(&v1.OperatorGroup{}, to(t.members)).
		Watches(&v1.OperatorGroup{}, to(t.competing)).
		Watches(&v2.OperatorCondition{}, to(t.conditioned), builder.WithPredicates(predicate.ResourceVersionChangedPredicate{})).
		WatchesMetadata(&corev1.Namespace{}, to(t.targeting), builder.WithPredicates(comesOrGoes)).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, burst(t.usingCRD)).
		Watches(&apiregistrationv1.APIService{}, to(t.usingAPIService)).
		WatchesMetadata(&corev1.ServiceAccount{}, burst(t.named(indexByAccount))).
		Watches(&rbacv1.Role{}, burst(t.usingRole)).
		Watches(&rbacv1.ClusterRole{}, burst(t.usingRole)).
		Watches(&rbacv1.RoleBinding{}, burst(t.usingBinding)).
		Watches(&rbacv1.ClusterRoleBinding{}, burst(t.usingBinding)).
		Watches(&appsv1.Deployment{}, to(t.owner)).
		Watches(&appsv1.Deployment{}, to(t.named(indexByDeploy)), builder.WithPredicates(goes)).
		Watches(&corev1.Service{}, to(t.owner)).
		WatchesMetadata(&corev1.Secret{}, to(t.owner)).
		Watches(&admissionv1.ValidatingWebhookConfiguration{}, to(t.owner)).
		Watches(&admissionv1.MutatingWebhookConfiguration{}, to(t.owner)).
		WithOptions(reconcile.Options(o.Workers)).
		Build(c)
	if err != nil {
		return err
	}
	c.proxy.start = func() {
		// In the background: events of CRDs arrive while the controller that is to watch is still being started.
		go func() {
			if err := built.Watch(source.Kind(mgr.GetCache(), client.Object(newProxy()), to(t.everyone))); err != nil {
				mgr.GetLogger().Error(err, "the proxy of the cluster is not watched: operators learn of its changes late", "kind", proxyKind)
			}
		}()
	}
	return nil
}

// CacheOptions are how the caches of the manager are best filled for this controller: with the Deployments, Services
// and Secrets that the manager made, with the managed fields of the objects of operators, and without what no one reads. It works without them, at a
// higher price. ClusterRoles have managed fields for other readers too: KeepFields is for their options.
func CacheOptions() map[client.Object]cache.ByObject {
	managed := labels.SelectorFromSet(labels.Set{v1alpha1.ManagedLabel: v1alpha1.ManagedLabelValue})
	fields := KeepFields(cache.TransformStripManagedFields())
	return map[client.Object]cache.ByObject{
		&appsv1.Deployment{}:                          {Label: managed, Transform: fields},
		&corev1.Service{}:                             {Label: managed, Transform: fields},
		&corev1.Secret{}:                              {Label: managed},
		&rbacv1.Role{}:                                {Transform: fields},
		&rbacv1.RoleBinding{}:                         {Transform: fields},
		&rbacv1.ClusterRoleBinding{}:                  {Transform: fields},
		&apiregistrationv1.APIService{}:               {Transform: fields},
		&admissionv1.ValidatingWebhookConfiguration{}: {Transform: fields},
		&admissionv1.MutatingWebhookConfiguration{}:   {Transform: fields},
		&apiextensionsv1.CustomResourceDefinition{}:   {Transform: trimCRD},
	}
}

// KeepFields keeps the managed fields of objects of operators, by which drift is found, but for those of a status. Other objects are left to
// another transform.
func KeepFields(others toolscache.TransformFunc) toolscache.TransformFunc {
	return func(object any) (any, error) {
		live, ok := object.(client.Object)
		if !ok {
			return others(object)
		}
		if _, owned := ownerOf(live); !owned {
			return others(object)
		}
		live.SetManagedFields(slices.DeleteFunc(live.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" }))
		return live, nil
	}
}

// trimCRD leaves the schemas out, which are most of a CRD.
func trimCRD(object any) (any, error) {
	crd, ok := object.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return object, nil
	}
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		*version = apiextensionsv1.CustomResourceDefinitionVersion{Name: version.Name, Served: version.Served, Storage: version.Storage}
	}
	crd.ManagedFields = nil
	delete(crd.Annotations, corev1.LastAppliedConfigAnnotation)
	return crd, nil
}
