package platform

import (
	"context"
	"fmt"
	"sync/atomic"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// Setup adds the controller to a manager that sees all namespaces.
func Setup(mgr manager.Manager, clk clock.PassiveClock) error {
	c := &Controller{client: mgr.GetClient(), cluster: mgr.GetCache(), clock: clk}
	var built controller.Controller
	c.watch = func(kind schema.GroupVersionKind, name string) error {
		named := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == name })
		return built.Watch(source.Kind(mgr.GetCache(), client.Object(empty(kind, "")), handler.EnqueueRequestsFromMapFunc(one(operatorName)), named))
	}
	definitions := map[string]*atomic.Bool{"clusterversions." + group: &c.versions, "clusteroperators." + group: &c.operators}
	appeared := predicate.NewPredicateFuncs(func(o client.Object) bool { return definitions[o.GetName()] != nil && established(o) })
	built, err := builder.ControllerManagedBy(mgr).Named("platform").
		Watches(&apiextensionsv1.CustomResourceDefinition{}, handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []ctrl.Request {
			definitions[o.GetName()].Store(true) // it is watched from the next pass on
			return one(operatorName)(ctx, o)
		}), builder.WithPredicates(appeared)).
		Watches(&v1alpha1.ClusterServiceVersion{}, handler.EnqueueRequestsFromMapFunc(one(operatorName)), builder.WithPredicates(c.matters())).
		Watches(&olmv1.ClusterObjectSet{}, handler.EnqueueRequestsFromMapFunc(one(operatorName)), builder.WithPredicates(c.matters())).
		WithOptions(reconcile.Options(1)).
		Build(c)
	if err != nil {
		return fmt.Errorf("set up the platform controller: %w", err)
	}
	return nil
}

// one maps whatever happens to the only request of a controller.
func one(name string) handler.MapFunc {
	return func(context.Context, client.Object) []ctrl.Request {
		return []ctrl.Request{{NamespacedName: client.ObjectKey{Name: name}}}
	}
}

func established(o client.Object) bool {
	crd, ok := o.(*apiextensionsv1.CustomResourceDefinition)
	return ok && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
}

// matters lets events pass on clusters that want to know, and of updates those that change what is said of an operator.
func (c *Controller) matters() predicate.Predicate {
	on := func(o client.Object) bool { return c.versions.Load() && c.operators.Load() && !v1alpha1.IsCopied(o) }
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return on(e.Object) },
		DeleteFunc: func(e event.DeleteEvent) bool { return on(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return on(e.ObjectNew) && (e.ObjectOld.GetAnnotations()[olmv1.PropertiesKey] != e.ObjectNew.GetAnnotations()[olmv1.PropertiesKey] ||
				lifecycle(e.ObjectOld) != lifecycle(e.ObjectNew) || v1alpha1.IsCopied(e.ObjectOld))
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

func lifecycle(o client.Object) olmv1.LifecycleState {
	set, ok := o.(*olmv1.ClusterObjectSet)
	if !ok {
		return ""
	}
	return set.Spec.LifecycleState
}
