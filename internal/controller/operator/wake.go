package operator

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/reconcile"
)

// Names of the cache indexes.
const (
	indexByOperator = "operator.component" // components by the short names of their Operators
	indexByOwner    = "operator.owner"     // what ClusterServiceVersions own, by namespace/name of these
	indexByPackage  = "operator.package"   // Subscriptions by the short names of their Operators
	indexByOutcome  = "operator.outcome"   // Subscriptions by what they have come to: kind/name in their namespace
	indexByName     = "operator.name"      // Operators by their short names
	indexByCRD      = "operator.crd"       // ClusterServiceVersions by the CustomResourceDefinitions that they own
)

const planKind = "InstallPlan"

// byOutcome are the keys of indexByOutcome.
func byOutcome(o client.Object) []string {
	s, ok := o.(*v1alpha1.Subscription)
	if !ok {
		return nil
	}
	var out []string
	if s.Status.InstalledCSV != "" {
		out = append(out, v1alpha1.ClusterServiceVersionKind+"/"+s.Status.InstalledCSV)
	}
	if ref := s.Status.InstallPlanRef; ref != nil && ref.Name != "" {
		out = append(out, planKind+"/"+ref.Name)
	}
	return out
}

// byCRD are the keys of indexByCRD.
func byCRD(o client.Object) []string {
	csv, ok := o.(*v1alpha1.ClusterServiceVersion)
	if !ok {
		return nil
	}
	var out []string
	for _, owned := range csv.Spec.CustomResourceDefinitions.Owned {
		out = append(out, owned.Name)
	}
	return out
}

// wake enqueues the Operators of a component as it is and, after a change, as it was: it may have lost its label.
func (c *Controller) wake(k kind) handler.EventHandler {
	return reconcile.After(settling, func(ctx context.Context, o client.Object) []ctrl.Request { return c.concerned(ctx, k, o) })
}

// concerned are the Operators that an object is, or ought to be, a component of. It reads only caches; if that fails, the manager is
// shutting down.
func (c *Controller) concerned(ctx context.Context, k kind, o client.Object) []ctrl.Request {
	names := c.named(ctx, labelled(o))
	if name := packageName(o); name != "" {
		names = append(names, name)
	}
	switch k.gvk.Kind {
	case planKind, v1alpha1.ClusterServiceVersionKind:
		names = append(names, c.subscribed(ctx, o.GetNamespace(), k.gvk.Kind+"/"+o.GetName())...)
	case "CustomResourceDefinition":
		names = append(names, c.providers(ctx, o.GetName())...)
	}
	for _, owner := range owners(o) {
		names = append(names, c.ofOperator(ctx, owner)...)
	}
	slices.Sort(names)
	var out []ctrl.Request
	for _, name := range slices.Compact(names) {
		out = append(out, ctrl.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
	return out
}

// named are the names of Operators whose labels hold short names. A name that was not cut is its own short name; of others a Subscription or
// the Operator knows the whole.
func (c *Controller) named(ctx context.Context, shorts []string) []string {
	var out []string
	for _, name := range shorts {
		var subscriptions v1alpha1.SubscriptionList
		var operators v1.OperatorList
		if c.client.List(ctx, &subscriptions, client.MatchingFields{indexByPackage: name}, client.UnsafeDisableDeepCopy) != nil ||
			c.client.List(ctx, &operators, client.MatchingFields{indexByName: name}, client.UnsafeDisableDeepCopy) != nil {
			return out
		}
		before := len(out)
		for i := range subscriptions.Items {
			out = append(out, packageName(&subscriptions.Items[i]))
		}
		for i := range operators.Items {
			out = append(out, operators.Items[i].Name)
		}
		if len(out) == before {
			out = append(out, name)
		}
	}
	return out
}

// subscribed are the Operators of the Subscriptions that have come to something in their namespace.
func (c *Controller) subscribed(ctx context.Context, namespace, outcome string) []string {
	var list v1alpha1.SubscriptionList
	if err := c.client.List(ctx, &list, client.InNamespace(namespace), client.MatchingFields{indexByOutcome: outcome}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []string
	for i := range list.Items {
		if name := packageName(&list.Items[i]); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// ofOperator are the Operators of a ClusterServiceVersion.
func (c *Controller) ofOperator(ctx context.Context, name types.NamespacedName) []string {
	csv := &v1alpha1.ClusterServiceVersion{}
	if err := c.client.Get(ctx, name, csv); err != nil || csv.IsCopied() {
		return nil
	}
	return append(c.named(ctx, labelled(csv)), c.subscribed(ctx, name.Namespace, v1alpha1.ClusterServiceVersionKind+"/"+name.Name)...)
}

// providers are the Operators of those that own a CustomResourceDefinition.
func (c *Controller) providers(ctx context.Context, crd string) []string {
	var list v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &list, client.MatchingFields{indexByCRD: crd}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []string
	for i := range list.Items {
		out = append(out, c.ofOperator(ctx, client.ObjectKeyFromObject(&list.Items[i]))...)
	}
	return out
}
