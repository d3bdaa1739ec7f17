package providedapi

import (
	"context"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/trigger"
)

// indexByOwned has ClusterServiceVersions that are no copies by what they own: kind/name.
const indexByOwned = "providedapi.owned"

// Setup adds the controller, its watches and the index it reads to the manager.
func Setup(mgr manager.Manager) error {
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.ClusterServiceVersion{}, indexByOwned, owned)
	if err != nil {
		return fmt.Errorf("set up the controller of provided APIs: index ClusterServiceVersions by %s: %w", indexByOwned, err)
	}
	to := handler.EnqueueRequestsFromMapFunc
	err = builder.ControllerManagedBy(mgr).Named("providedapi").
		Watches(&v1alpha1.ClusterServiceVersion{}, to(ofOperator), builder.WithPredicates(runs)).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, to(ofDefinition), builder.WithPredicates(appears)).
		Watches(&apiregistrationv1.APIService{}, to(ofDefinition), builder.WithPredicates(appears)).
		Watches(&rbacv1.ClusterRole{}, to(ofRole)).
		WithOptions(trigger.Options(1)).
		Complete(&Controller{client: mgr.GetClient(), clock: clock.RealClock{}})
	if err != nil {
		return fmt.Errorf("set up the controller of provided APIs: %w", err)
	}
	return nil
}

// owned are the keys of an operator in the index.
func owned(o client.Object) []string {
	csv, ok := o.(*v1alpha1.ClusterServiceVersion)
	if !ok || csv.IsCopied() {
		return nil
	}
	var keys []string
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		keys = append(keys, kindCRD+"/"+d.Name)
	}
	for _, d := range csv.OwnedAPIServices() {
		keys = append(keys, kindAPIService+"/"+d.APIServiceName())
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func request(kind, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: kind, Name: name}}
}

// ofOperator is what an operator owns.
func ofOperator(_ context.Context, o client.Object) []reconcile.Request {
	csv, ok := o.(*v1alpha1.ClusterServiceVersion)
	if !ok || csv.IsCopied() {
		return nil
	}
	var out []reconcile.Request
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		out = append(out, request(kindCRD, d.Name))
	}
	for _, d := range csv.OwnedAPIServices() {
		out = append(out, request(kindAPIService, d.APIServiceName()))
	}
	return out
}

// ofDefinition is a definition itself.
func ofDefinition(_ context.Context, o client.Object) []reconcile.Request {
	if _, ok := o.(*apiregistrationv1.APIService); ok {
		return []reconcile.Request{request(kindAPIService, o.GetName())}
	}
	return []reconcile.Request{request(kindCRD, o.GetName())}
}

// ofRole is the definition that a role belongs to.
func ofRole(_ context.Context, o client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, r := range o.GetOwnerReferences() {
		if r.Kind == kindCRD || r.Kind == kindAPIService {
			out = append(out, request(r.Kind, r.Name))
		}
	}
	return out
}

// runs leaves out the changes of an operator that its roles do not depend on.
var runs = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok1 := e.ObjectOld.(*v1alpha1.ClusterServiceVersion)
		after, ok2 := e.ObjectNew.(*v1alpha1.ClusterServiceVersion)
		return ok1 && ok2 && after.Status.Phase == v1alpha1.CSVPhaseSucceeded &&
			(before.Status.Phase != after.Status.Phase || before.Generation != after.Generation ||
				before.Annotations[v1alpha1.OperatorGroupAnnotation] != after.Annotations[v1alpha1.OperatorGroupAnnotation])
	},
}

// appears leaves out everything but that a definition comes into being.
var appears = predicate.Funcs{
	UpdateFunc: func(event.UpdateEvent) bool { return false },
	DeleteFunc: func(event.DeleteEvent) bool { return false },
}
