package operatorcondition

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/internal/reconcile"
)

const (
	// eventSource is the documented source of Events.
	eventSource = "operator-lifecycle-manager"
	workers     = 2
)

// Setup adds the controller and its watches to the manager, which is limited to some namespaces; none is all. Roles and bindings of others are in its
// caches all the same.
func Setup(mgr manager.Manager, namespaces []string) error {
	c := &Controller{
		client: mgr.GetClient(),
		live:   mgr.GetAPIReader(),
		//nolint:staticcheck // The newer recorder has no source, and the source of these Events is documented.
		events: mgr.GetEventRecorderFor(eventSource),
	}
	original := predicate.NewPredicateFuncs(func(o client.Object) bool { return !v1alpha1.IsCopied(o) })
	err := builder.ControllerManagedBy(mgr).Named("operatorcondition").
		For(&v2.OperatorCondition{}).
		Watches(&v1alpha1.ClusterServiceVersion{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(original, predicate.GenerationChangedPredicate{})).
		Owns(&rbacv1.Role{}).
		Owns(&rbacv1.RoleBinding{}).
		WithEventFilter(reconcile.Within(namespaces)).
		WithOptions(reconcile.Options(workers)).
		Complete(c)
	if err != nil {
		return fmt.Errorf("set up the OperatorCondition controller: %w", err)
	}
	return nil
}
