package providedapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// eventSource is the documented source of Events.
const eventSource = "operator-lifecycle-manager"

// Names of the cache indexes.
const (
	indexByOwned      = "providedapi.owned"      // ClusterServiceVersions that are no copies by what they own: kind/name
	indexByDefinition = "providedapi.definition" // ClusterRoles that were made for an API by its definition: kind/name
)

// Options are what the controller needs besides the manager. The zero value works.
type Options struct {
	// Namespaces are those that the manager is limited to; empty when it manages all.
	Namespaces []string
	// ManagerRoles has a ClusterRole written for each CRD that operators manage, by which the manager reaches its custom resources. A manager with a
	// rule for every resource needs none.
	ManagerRoles bool
}

// Setup adds the controller, its watches and the indexes it reads to the manager.
func Setup(mgr manager.Manager, o Options) error {
	for _, i := range []struct {
		object client.Object
		name   string
		values client.IndexerFunc
	}{{&v1alpha1.ClusterServiceVersion{}, indexByOwned, owned}, {&rbacv1.ClusterRole{}, indexByDefinition, definitions}} {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), i.object, i.name, i.values); err != nil {
			return fmt.Errorf("set up the controller of provided APIs: index %T by %s: %w", i.object, i.name, err)
		}
	}
	c := &Controller{client: mgr.GetClient(), live: mgr.GetAPIReader(), clock: clock.RealClock{}, namespaces: o.Namespaces, managerRoles: o.ManagerRoles,
		told: map[string]map[types.UID]string{}, seen: map[string]memory{},
		events: mgr.GetEventRecorderFor(eventSource)} //nolint:staticcheck // The newer recorder has no source, and all kinds have this one.
	to := handler.EnqueueRequestsFromMapFunc
	err := builder.ControllerManagedBy(mgr).Named("providedapi").
		Watches(&v1alpha1.ClusterServiceVersion{}, to(ofOperator), builder.WithPredicates(stands)).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, to(ofDefinition), builder.WithPredicates(saysElse)).
		Watches(&apiregistrationv1.APIService{}, to(ofDefinition), builder.WithPredicates(saysElse)).
		Watches(&rbacv1.ClusterRole{}, to(ofRole)).
		Watches(&rbacv1.ClusterRole{}, to(c.ofSquat)).
		Watches(&operatorsv1.OperatorGroup{}, to(c.ofGroup), builder.WithPredicates(accountChanges)).
		Watches(&rbacv1.ClusterRole{}, to(c.ofAccounts), builder.WithPredicates(grantsElse)).
		Watches(&rbacv1.ClusterRoleBinding{}, to(c.ofAccounts), builder.WithPredicates(grantsElse)).
		WithOptions(reconcile.Options(1)). // what was told is not locked
		Complete(c)
	if err != nil {
		return fmt.Errorf("set up the controller of provided APIs: %w", err)
	}
	return nil
}

// definitions are the keys of a ClusterRole in the index.
func definitions(o client.Object) []string {
	role, ok := o.(*rbacv1.ClusterRole)
	if !ok || !isProvided(role) {
		return nil
	}
	var keys []string
	for _, r := range ofRole(context.Background(), o) {
		keys = append(keys, r.Namespace+"/"+r.Name)
	}
	return keys
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

func request(kind, name string) ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKey{Namespace: kind, Name: name}}
}

// ofOperator is what an operator owns.
func ofOperator(_ context.Context, o client.Object) []ctrl.Request {
	csv, ok := o.(*v1alpha1.ClusterServiceVersion)
	if !ok || csv.IsCopied() {
		return nil
	}
	var out []ctrl.Request
	for _, d := range csv.Spec.CustomResourceDefinitions.Owned {
		out = append(out, request(kindCRD, d.Name))
	}
	for _, d := range csv.OwnedAPIServices() {
		out = append(out, request(kindAPIService, d.APIServiceName()))
	}
	return out
}

// ofDefinition is a definition itself.
func ofDefinition(_ context.Context, o client.Object) []ctrl.Request {
	if _, ok := o.(*apiregistrationv1.APIService); ok {
		return []ctrl.Request{request(kindAPIService, o.GetName())}
	}
	return []ctrl.Request{request(kindCRD, o.GetName())}
}

// ofRole is the definition that a role belongs to.
func ofRole(_ context.Context, o client.Object) []ctrl.Request {
	var out []ctrl.Request
	for _, r := range o.GetOwnerReferences() {
		if r.Kind == kindCRD || r.Kind == kindAPIService {
			out = append(out, request(r.Kind, r.Name))
		}
	}
	return out
}

// ofGroup are the definitions that the operators of a group own.
func (c *Controller) ofGroup(ctx context.Context, o client.Object) []ctrl.Request {
	var list v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &list, client.InNamespace(o.GetNamespace()), client.UnsafeDisableDeepCopy); err != nil {
		return nil // the cache can always be read while events arrive, unless the manager is shutting down
	}
	var out []ctrl.Request
	for i := range list.Items {
		out = append(out, ofOperator(ctx, &list.Items[i])...)
	}
	return out
}

// ofAccounts are the definitions that operators own whose groups have a service account: what these may hand on depends on roles and bindings.
func (c *Controller) ofAccounts(ctx context.Context, _ client.Object) []ctrl.Request {
	var groups operatorsv1.OperatorGroupList
	if err := c.client.List(ctx, &groups, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []ctrl.Request
	for i := range groups.Items {
		if groups.Items[i].Spec.ServiceAccountName != "" {
			out = append(out, c.ofGroup(ctx, &groups.Items[i])...)
		}
	}
	return out
}

// stands leaves out the changes of an operator that its roles do not depend on.
var stands = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok1 := e.ObjectOld.(*v1alpha1.ClusterServiceVersion)
		after, ok2 := e.ObjectNew.(*v1alpha1.ClusterServiceVersion)
		return ok1 && ok2 && (byPhase(before) != byPhase(after) || before.Generation != after.Generation || before.UID != after.UID ||
			before.Annotations[v1alpha1.OperatorGroupAnnotation] != after.Annotations[v1alpha1.OperatorGroupAnnotation])
	},
}

// saysElse leaves out the changes of a definition that are not about whose it is and whom it is for.
var saysElse = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool { return !maps.Equal(evidence(e.ObjectOld), evidence(e.ObjectNew)) },
}

// evidence is what a definition says about its operators and its roles.
func evidence(o client.Object) map[string]string {
	out := map[string]string{}
	for _, key := range []string{v1alpha1.ManagedLabel, v1alpha1.ProvidedRolesLabel, v1alpha1.OwnerLabel, v1alpha1.OwnerNamespaceLabel, v1alpha1.OwnerKindLabel} {
		out[key] = o.GetLabels()[key]
	}
	for key, value := range o.GetAnnotations() {
		if strings.HasPrefix(key, v1alpha1.InstalledAlongsideAnnotationPrefix) || strings.HasPrefix(key, v1alpha1.BroughtByAnnotationPrefix) ||
			key == v1alpha1.OriginAnnotation || key == v1alpha1.AdoptableByAnnotation {
			out[key] = value
		}
	}
	return out
}

// accountChanges leaves out the changes of a group but that of its service account.
var accountChanges = predicate.Funcs{
	CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok1 := e.ObjectOld.(*operatorsv1.OperatorGroup)
		after, ok2 := e.ObjectNew.(*operatorsv1.OperatorGroup)
		return ok1 && ok2 && before.Spec.ServiceAccountName != after.Spec.ServiceAccountName
	},
}

// grantsElse leaves out what changes no rights, and the roles of APIs themselves.
var grantsElse = predicate.And(
	predicate.NewPredicateFuncs(func(o client.Object) bool {
		role, ok := o.(*rbacv1.ClusterRole)
		return !ok || !isProvided(role) && role.Labels[v1alpha1.ManagerAggregationLabel] == ""
	}),
	predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return !e.IsInInitialList },
		UpdateFunc: func(e event.UpdateEvent) bool {
			switch before := e.ObjectOld.(type) {
			case *rbacv1.ClusterRole:
				after, ok := e.ObjectNew.(*rbacv1.ClusterRole)
				return ok && !equality.Semantic.DeepEqual(before.Rules, after.Rules)
			case *rbacv1.ClusterRoleBinding:
				after, ok := e.ObjectNew.(*rbacv1.ClusterRoleBinding)
				return ok && !equality.Semantic.DeepEqual(before.Subjects, after.Subjects)
			}
			return false
		},
	},
)
