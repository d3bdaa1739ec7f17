package installplan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/internal/rollout"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// workers is how many plans are carried out at once.
const workers = 4

// Setup adds the controller to the manager. The scheme of the manager must know the kinds of Kubernetes that bundles hold, CRDs
// included; its configuration should have rollout.WarningHandler, or warnings are not reported.
func Setup(mgr manager.Manager, o Options) error {
	counted, err := metrics.Register(ctrlmetrics.Registry, cmp.Or(o.Metrics, metrics.NewInstallPlans()))
	if err != nil {
		return fmt.Errorf("set up the metrics of InstallPlans: %w", err)
	}
	o.Metrics = counted
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.RetryTimeout == 0 {
		o.RetryTimeout = DefaultRetryTimeout
	}
	if o.Notify == nil {
		o.Notify = &Notifier{}
	}
	//nolint:staticcheck // the Events of the newer API cannot name a field of what they are about
	events := mgr.GetEventRecorderFor(eventSource)
	c := &Controller{
		Options: o, client: mgr.GetClient(), live: mgr.GetAPIReader(), events: events,
		engine: &rollout.Engine{Client: mgr.GetClient(), Reader: mgr.GetAPIReader(), FieldManager: fieldOwner},
	}
	watch := watcher{c}
	o.Notify.search = watch.plans
	o.Catalogs.OnChange(func(catalog.Ref) { o.Notify.BundleArrived() })
	rbac := handler.EnqueueRequestsFromMapFunc(watch.limitedBy)
	return ctrl.NewControllerManagedBy(mgr).
		Named("installplan").
		For(&v1alpha1.InstallPlan{}).
		Watches(&v1alpha1.ClusterServiceVersion{}, handler.EnqueueRequestsFromMapFunc(watch.awaitingOperators)).
		WatchesRawSource(source.Func(o.Notify.news.Start)).
		Watches(&operatorsv1.OperatorGroup{}, handler.EnqueueRequestsFromMapFunc(watch.inNamespace)).
		Watches(&v1alpha1.Subscription{}, handler.EnqueueRequestsFromMapFunc(watch.upgradesIn), builder.WithPredicates(reconcile.UpgradeRulesChanged)).
		WatchesMetadata(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(watch.upgradesIn), builder.WithPredicates(reconcile.UpgradeRulesChanged)).
		Watches(&operatorsv1.OLMConfig{}, handler.EnqueueRequestsFromMapFunc(watch.upgradesIn), builder.WithPredicates(reconcile.UpgradeRulesChanged)).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, reconcile.After(crdPause, watch.waitingFor), builder.WithPredicates(news)).
		Watches(&rbacv1.Role{}, rbac, builder.OnlyMetadata, builder.WithPredicates(news)).
		Watches(&rbacv1.RoleBinding{}, rbac, builder.OnlyMetadata, builder.WithPredicates(news)).
		Watches(&rbacv1.ClusterRole{}, rbac, builder.OnlyMetadata, builder.WithPredicates(news)).
		Watches(&rbacv1.ClusterRoleBinding{}, rbac, builder.OnlyMetadata, builder.WithPredicates(news)).
		Watches(&corev1.ServiceAccount{}, rbac, builder.OnlyMetadata, builder.WithPredicates(news)).
		WithOptions(reconcile.Options(workers)).
		Complete(c)
}

// crdPause gathers the changes of CRDs: plans may bring a hundred of them, each of which changes several times until it is served,
// and no one waits for a plan to be complete but for the next plan of the same operators.
const crdPause = 2 * reconcile.Burst

// news leaves out what a start of the manager merely finds, and what goes away: neither lets a plan succeed. Plans that are being
// carried out are checked on a start anyway.
var news = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
	UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion()
	},
	DeleteFunc:  func(event.DeleteEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// watcher maps events to the plans that they concern.
type watcher struct{ *Controller }

// inNamespace maps an OperatorGroup to the plans of its namespace that are not finished, and to all that say while they wait for approval that something is
// in their way: it may have been what this group provides.
func (c watcher) inNamespace(ctx context.Context, o client.Object) []ctrl.Request {
	return c.plans(ctx, "", func(p *v1alpha1.InstallPlan) bool {
		return awaitsWithAdvice(p) || p.Namespace == o.GetNamespace() && unfinished(p)
	})
}

// waitingFor maps a CRD to the plans that wait for it, and to those that would replace it and say what that would lead to.
func (c watcher) waitingFor(ctx context.Context, o client.Object) []ctrl.Request {
	_, group, _ := strings.Cut(o.GetName(), ".")
	return c.plans(ctx, "", func(p *v1alpha1.InstallPlan) bool {
		if awaitsWithAdvice(p) {
			return slices.ContainsFunc(p.Status.Plan, func(s *v1alpha1.Step) bool { return s.Resource.Kind == crdKind && s.Resource.Name == o.GetName() })
		}
		return p.Status.Phase == v1alpha1.InstallPlanPhaseInstalling && slices.ContainsFunc(p.Status.Plan, func(s *v1alpha1.Step) bool {
			waits := s.Status == v1alpha1.StepStatusWaitingForAPI && s.Resource.Kind == crdKind && s.Resource.Name == o.GetName()
			return waits || !finished(s.Status) && s.Resource.Group == group
		})
	})
}

// upgradesIn maps an object that says when upgrades begin to the plans that have not begun: of its namespace, of the Namespace that it is, or of all.
func (c watcher) upgradesIn(ctx context.Context, o client.Object) []ctrl.Request {
	namespace := o.GetNamespace()
	if _, all := o.(*operatorsv1.OLMConfig); !all {
		namespace = cmp.Or(namespace, o.GetName())
	}
	return c.plans(ctx, namespace, func(p *v1alpha1.InstallPlan) bool { return unfinished(p) && p.Status.StartTime == nil })
}

func unfinished(p *v1alpha1.InstallPlan) bool {
	return p.Status.Phase != v1alpha1.InstallPlanPhaseComplete && p.Status.Phase != v1alpha1.InstallPlanPhaseFailed
}

// plans lists plans of a namespace, or of all when it is empty. They are only read, so they are not copied. Some objects, such as
// OperatorGroups, are seen in all namespaces; where the plans are left to another manager there are none.
func (c watcher) plans(ctx context.Context, namespace string, which func(*v1alpha1.InstallPlan) bool) []ctrl.Request {
	if limited := len(c.Namespaces) > 0; limited && namespace != "" && namespace != c.OperatorNamespace && !slices.Contains(c.Namespaces, namespace) {
		return nil
	}
	var list v1alpha1.InstallPlanList
	if err := c.client.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the InstallPlans that a change concerns")
		return nil
	}
	var requests []ctrl.Request
	for i := range list.Items {
		if p := &list.Items[i]; which(p) {
			requests = append(requests, ctrl.Request{NamespacedName: types.NamespacedName{Namespace: p.Namespace, Name: p.Name}})
		}
	}
	return requests
}
