package clusterserviceversion

import (
	"context"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/tenancy"
)

// triggers find the ClusterServiceVersions that an object concerns. They read only the cache; if that fails,
// the manager is shutting down.
type triggers struct {
	cache      client.Reader
	namespaces []string // that the manager is limited to, if any
	proxy      *proxyWatch
}

// owner is the CSV of the owner references or of the owner labels of an object, unless the manager leaves its namespace to another one.
func (t *triggers) owner(_ context.Context, o client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, r := range o.GetOwnerReferences() {
		if r.Kind == v1alpha1.ClusterServiceVersionKind && strings.HasPrefix(r.APIVersion, v1alpha1.GroupName+"/") {
			out = append(out, reconcile.Request{NamespacedName: key(o.GetNamespace(), r.Name)})
		}
	}
	if owner, ok := ownerOf(o); ok {
		out = append(out, reconcile.Request{NamespacedName: owner})
	}
	return slices.DeleteFunc(out, func(r reconcile.Request) bool {
		return len(t.namespaces) > 0 && !slices.Contains(t.namespaces, r.Namespace)
	})
}

// csvs are the CSVs that the list options select, copies left out.
func (t *triggers) csvs(ctx context.Context, options ...client.ListOption) []reconcile.Request {
	var list v1alpha1.ClusterServiceVersionList
	if err := t.cache.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		if !list.Items[i].IsCopied() {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return out
}

// neighbours are the CSVs that a CSV replaces or is replaced by, those that replace the same one, and those that have an owned
// CRD or API or the name of a Deployment in common.
func (t *triggers) neighbours(ctx context.Context, o client.Object) []reconcile.Request {
	csv, ok := o.(*v1alpha1.ClusterServiceVersion)
	if !ok || csv.IsCopied() {
		return nil
	}
	out := t.csvs(ctx, client.InNamespace(csv.Namespace), client.MatchingFields{indexByReplaces: csv.Name})
	if csv.Spec.Replaces != "" {
		out = append(out, reconcile.Request{NamespacedName: key(csv.Namespace, csv.Spec.Replaces)})
		out = append(out, t.csvs(ctx, client.InNamespace(csv.Namespace), client.MatchingFields{indexByReplaces: csv.Spec.Replaces})...)
	}
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		out = append(out, t.csvs(ctx, client.InNamespace(csv.Namespace), client.MatchingFields{indexByDeploy: d.Name})...)
	}
	for _, crd := range csv.Spec.CustomResourceDefinitions.Owned {
		out = append(out, t.csvs(ctx, client.MatchingFields{indexByAPI: crdKey + crd.Name})...)
	}
	for _, api := range csv.Spec.APIServiceDefinitions.Owned {
		out = append(out, t.csvs(ctx, client.MatchingFields{indexByAPI: apiServiceKey + api.APIServiceName()})...)
	}
	return slices.DeleteFunc(out, func(r reconcile.Request) bool { return r.NamespacedName == key(csv.Namespace, csv.Name) })
}

// matterToNeighbours leaves out the changes of a CSV that its neighbours do not check.
var matterToNeighbours = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.ClusterServiceVersion)
	after, ok2 := e.ObjectNew.(*v1alpha1.ClusterServiceVersion)
	return ok1 && ok2 && (before.Status.Phase != after.Status.Phase || before.Generation != after.Generation ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero())
}}

// named are the CSVs of its namespace that an index has under the name of an object: those with a Deployment of the name, to whatever owner it belongs,
// and those whose permissions are for a service account.
func (t *triggers) named(index string) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		return t.csvs(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{index: o.GetName()})
	}
}

// goes leaves out everything but that an object is gone.
var goes = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	UpdateFunc:  func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// subscribed are the CSVs that a Subscription has, is moving to, or configures because they are of its package.
func (t *triggers) subscribed(ctx context.Context, o client.Object) []reconcile.Request {
	subscription, ok := o.(*v1alpha1.Subscription)
	if !ok {
		return nil
	}
	var out []reconcile.Request
	for _, name := range []string{subscription.Status.InstalledCSV, subscription.Status.CurrentCSV} {
		if name != "" {
			out = append(out, reconcile.Request{NamespacedName: key(subscription.Namespace, name)})
		}
	}
	if subscription.Spec == nil || subscription.Spec.Package == "" {
		return out
	}
	return append(out, t.csvs(ctx, client.InNamespace(subscription.Namespace), client.MatchingFields{indexByPackage: subscription.Spec.Package})...)
}

// configMatters leaves out the changes of a Subscription that its CSVs do not check.
var configMatters = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.Subscription)
	after, ok2 := e.ObjectNew.(*v1alpha1.Subscription)
	return ok1 && ok2 && (before.Generation != after.Generation ||
		before.Status.InstalledCSV != after.Status.InstalledCSV || before.Status.CurrentCSV != after.Status.CurrentCSV)
}}

// members are the CSVs of the namespace of an OperatorGroup.
func (t *triggers) members(ctx context.Context, o client.Object) []reconcile.Request {
	return t.csvs(ctx, client.InNamespace(o.GetNamespace()))
}

// targeting are the CSVs of the groups that target a namespace by name, and those in a namespace that is being deleted, or of which it left something.
func (t *triggers) targeting(ctx context.Context, o client.Object) []reconcile.Request {
	var list v1.OperatorGroupList
	if err := t.cache.List(ctx, &list, client.MatchingFields{indexByTarget: o.GetName()}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, t.members(ctx, &list.Items[i])...)
	}
	if !o.GetDeletionTimestamp().IsZero() {
		out = append(out, t.csvs(ctx, client.InNamespace(o.GetName()))...)
		// Of the CSVs of a namespace that is gone, something without a namespace may have the owner labels.
		labels := client.MatchingLabels{v1alpha1.OwnerNamespaceLabel: o.GetName(), v1alpha1.OwnerKindLabel: v1alpha1.ClusterServiceVersionKind}
		if _, others, err := orphans(ctx, t.cache, labels); err == nil {
			for _, left := range others {
				out = append(out, t.owner(ctx, left)...)
			}
		}
	}
	return out
}

// comesOrGoes leaves out everything but that a namespace appears, disappears, or is about to.
var comesOrGoes = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}}

// conditioned are the CSV that an OperatorCondition is about, and those that are to replace it.
func (t *triggers) conditioned(ctx context.Context, o client.Object) []reconcile.Request {
	own := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
	return append(t.named(indexByReplaces)(ctx, o), own)
}

// usingCRD are the CSVs that own or need a CRD, and those that need an API of its group from any provider.
func (t *triggers) usingCRD(ctx context.Context, o client.Object) []reconcile.Request {
	crd, ok := o.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return nil
	}
	if crd.Name == proxyCRD {
		if t.proxy.start != nil {
			t.proxy.once.Do(t.proxy.start)
		}
		return t.everyone(ctx, o)
	}
	return append(
		t.csvs(ctx, client.MatchingFields{indexByAPI: crdKey + crd.Name}),
		t.csvs(ctx, client.MatchingFields{indexByAPI: groupKey + crd.Spec.Group})...)
}

// usingAPIService are the CSVs that own or need an APIService, those that need an API of its group, and its owner.
func (t *triggers) usingAPIService(ctx context.Context, o client.Object) []reconcile.Request {
	service, ok := o.(*apiregistrationv1.APIService)
	if !ok {
		return nil
	}
	return slices.Concat(
		t.owner(ctx, o),
		t.csvs(ctx, client.MatchingFields{indexByAPI: apiServiceKey + service.Name}),
		t.csvs(ctx, client.MatchingFields{indexByAPI: groupKey + service.Spec.Group}))
}

// competing are the CSVs that provide an API that a group lists, or listed before: what one group has, others have not.
func (t *triggers) competing(ctx context.Context, o client.Object) []reconcile.Request {
	group, ok := o.(*v1.OperatorGroup)
	if !ok {
		return nil
	}
	var out []reconcile.Request
	for api := range tenancy.AnnotatedOn(group) {
		out = append(out, t.csvs(ctx, client.MatchingFields{indexByProvided: api})...)
	}
	return out
}

// proxyWatch starts to watch the proxy of the cluster once its kind is there.
type proxyWatch struct {
	once  sync.Once
	start func()
}

// everyone is every CSV: the proxy of the cluster concerns all.
func (t *triggers) everyone(ctx context.Context, _ client.Object) []reconcile.Request {
	return t.csvs(ctx)
}
