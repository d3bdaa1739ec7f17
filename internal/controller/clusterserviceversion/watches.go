package clusterserviceversion

import (
	"context"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// The functions below tell which ClusterServiceVersions an object concerns. They read only the cache; if that fails,
// the manager is shutting down.

// owner is the CSV of the owner references or of the owner labels of an object.
func (c *Controller) owner(_ context.Context, o client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, r := range o.GetOwnerReferences() {
		if r.Kind == v1alpha1.ClusterServiceVersionKind && strings.HasPrefix(r.APIVersion, v1alpha1.GroupName+"/") {
			out = append(out, c.request(key(o.GetNamespace(), r.Name))...)
		}
	}
	if owner, ok := ownerOf(o); ok {
		out = append(out, c.request(owner)...)
	}
	return out
}

// request is about one CSV, unless the manager leaves its namespace to another one.
func (c *Controller) request(name types.NamespacedName) []reconcile.Request {
	if !c.watches(name.Namespace) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: name}}
}

// csvs are the CSVs that the list options select, copies left out.
func (c *Controller) csvs(ctx context.Context, options ...client.ListOption) []reconcile.Request {
	var list v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
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
func (c *Controller) neighbours(ctx context.Context, o client.Object) []reconcile.Request {
	csv, ok := o.(*v1alpha1.ClusterServiceVersion)
	if !ok || csv.IsCopied() {
		return nil
	}
	out := c.csvs(ctx, client.InNamespace(csv.Namespace), client.MatchingFields{indexByReplaces: csv.Name})
	if csv.Spec.Replaces != "" {
		out = append(out, reconcile.Request{NamespacedName: key(csv.Namespace, csv.Spec.Replaces)})
		out = append(out, c.csvs(ctx, client.InNamespace(csv.Namespace), client.MatchingFields{indexByReplaces: csv.Spec.Replaces})...)
	}
	for _, d := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		out = append(out, c.csvs(ctx, client.InNamespace(csv.Namespace), client.MatchingFields{indexByDeploy: d.Name})...)
	}
	for _, crd := range csv.Spec.CustomResourceDefinitions.Owned {
		out = append(out, c.csvs(ctx, client.MatchingFields{indexByAPI: crdKey(crd.Name)})...)
	}
	for _, api := range csv.Spec.APIServiceDefinitions.Owned {
		out = append(out, c.csvs(ctx, client.MatchingFields{indexByAPI: apiServiceKey(api.APIServiceName())})...)
	}
	return slices.DeleteFunc(out, func(r reconcile.Request) bool { return r.NamespacedName == key(csv.Namespace, csv.Name) })
}

// matterToNeighbours leaves out the changes of a CSV that its neighbours do not look at.
var matterToNeighbours = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.ClusterServiceVersion)
	after, ok2 := e.ObjectNew.(*v1alpha1.ClusterServiceVersion)
	return ok1 && ok2 && (before.Status.Phase != after.Status.Phase || before.Generation != after.Generation ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero())
}}

// wanting are the CSVs with a Deployment of the name, whoever has it.
func (c *Controller) wanting(ctx context.Context, o client.Object) []reconcile.Request {
	return c.csvs(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{indexByDeploy: o.GetName()})
}

// goes leaves out everything but that an object is gone.
var goes = predicate.Funcs{
	CreateFunc:  func(event.CreateEvent) bool { return false },
	UpdateFunc:  func(event.UpdateEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
}

// subscribed are the CSVs that a Subscription has, is moving to, or configures because they are of its package.
func (c *Controller) subscribed(ctx context.Context, o client.Object) []reconcile.Request {
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
	return append(out, c.csvs(ctx, client.InNamespace(subscription.Namespace), client.MatchingFields{indexByPackage: subscription.Spec.Package})...)
}

// configMatters leaves out the changes of a Subscription that its CSVs do not look at.
var configMatters = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1alpha1.Subscription)
	after, ok2 := e.ObjectNew.(*v1alpha1.Subscription)
	return ok1 && ok2 && (before.Generation != after.Generation ||
		before.Status.InstalledCSV != after.Status.InstalledCSV || before.Status.CurrentCSV != after.Status.CurrentCSV)
}}

// members are the CSVs of the namespace of an OperatorGroup.
func (c *Controller) members(ctx context.Context, o client.Object) []reconcile.Request {
	return c.csvs(ctx, client.InNamespace(o.GetNamespace()))
}

// targeting are the CSVs of the groups that target a namespace by name, and those in a namespace that is being deleted, or of which it left something.
func (c *Controller) targeting(ctx context.Context, o client.Object) []reconcile.Request {
	var list v1.OperatorGroupList
	if err := c.client.List(ctx, &list, client.MatchingFields{indexByTarget: o.GetName()}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range list.Items {
		out = append(out, c.members(ctx, &list.Items[i])...)
	}
	if !o.GetDeletionTimestamp().IsZero() {
		out = append(out, c.csvs(ctx, client.InNamespace(o.GetName()))...)
		out = append(out, c.orphansOf(ctx, o.GetName())...)
	}
	return out
}

// comesOrGoes leaves out everything but that a namespace appears, disappears, or is about to.
var comesOrGoes = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}}

// conditioned are the CSV that an OperatorCondition is about, and those that are to replace it.
func (c *Controller) conditioned(ctx context.Context, o client.Object) []reconcile.Request {
	own := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
	return append(c.csvs(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{indexByReplaces: o.GetName()}), own)
}

// usingAccount are the CSVs of its namespace whose permissions are for a service account.
func (c *Controller) usingAccount(ctx context.Context, o client.Object) []reconcile.Request {
	return c.csvs(ctx, client.InNamespace(o.GetNamespace()), client.MatchingFields{indexByAccount: o.GetName()})
}

// usingCRD are the CSVs that own or need a CRD, and those that need an API of its group, whoever provides it.
func (c *Controller) usingCRD(ctx context.Context, o client.Object) []reconcile.Request {
	crd, ok := o.(*apiextensionsv1.CustomResourceDefinition)
	if !ok {
		return nil
	}
	if crd.Name == proxyCRD {
		c.proxy.appeared()
		return c.everyone(ctx, o)
	}
	return append(
		c.csvs(ctx, client.MatchingFields{indexByAPI: crdKey(crd.Name)}),
		c.csvs(ctx, client.MatchingFields{indexByAPI: groupKey(crd.Spec.Group)})...)
}

// usingAPIService are the CSVs that own or need an APIService, those that need an API of its group, and its owner.
func (c *Controller) usingAPIService(ctx context.Context, o client.Object) []reconcile.Request {
	service, ok := o.(*apiregistrationv1.APIService)
	if !ok {
		return nil
	}
	return slices.Concat(
		c.owner(ctx, o),
		c.csvs(ctx, client.MatchingFields{indexByAPI: apiServiceKey(service.Name)}),
		c.csvs(ctx, client.MatchingFields{indexByAPI: groupKey(service.Spec.Group)}))
}
