package copiedcsv

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/tenancy"
)

// Names of the cache indexes.
const (
	indexByName   = "copiedcsv.name"   // ClusterServiceVersions that are no copies by name
	indexByTarget = "copiedcsv.target" // OperatorGroups by target namespace; the empty name stands for all
	indexBySource = "copiedcsv.source" // copies by their source, namespace/name
)

// index is one cache index.
type index struct {
	object client.Object
	name   string
	values client.IndexerFunc
}

func indexes() []index {
	return []index{
		{&v1alpha1.ClusterServiceVersion{}, indexByName, func(o client.Object) []string {
			if v1alpha1.IsCopied(o) {
				return nil
			}
			return []string{o.GetName()}
		}},
		{&v1.OperatorGroup{}, indexByTarget, func(o client.Object) []string {
			return o.(*v1.OperatorGroup).Status.Namespaces
		}},
	}
}

func sourceKey(o client.Object) []string { return []string{origin(o) + "/" + o.GetName()} }

// The functions below tell which copies an object concerns, whether they are there or not. They read only caches; if that
// fails, the manager is shutting down.

// itself is a copy.
func itself(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(o)}}
}

// copiesOf are the copies that a ClusterServiceVersion has or is to have. One that looks like a copy is one, though it lost
// its label.
func (c *Controller) copiesOf(ctx context.Context, o client.Object) []reconcile.Request {
	if v1alpha1.IsCopied(o) {
		return itself(ctx, o)
	}
	key := client.ObjectKeyFromObject(o)
	if err := c.client.Get(ctx, key, &v1alpha1.ClusterServiceVersion{}); err != nil {
		c.prepared.forget(key)
	}
	// The last one is for a copy that could not be made because this one had its name.
	return append(c.copiesFrom(ctx, key), reconcile.Request{NamespacedName: key})
}

// copiesFrom are the copies of a source that are there, and those in the targets of its groups.
func (c *Controller) copiesFrom(ctx context.Context, from types.NamespacedName) []reconcile.Request {
	var out []reconcile.Request
	list := emptyCopyList()
	if err := c.copies.List(ctx, list, client.MatchingFields{indexBySource: from.String()}, client.UnsafeDisableDeepCopy); err == nil {
		for i := range list.Items {
			out = append(out, itself(ctx, &list.Items[i])...)
		}
	}
	groups, err := c.groupsIn(ctx, from.Namespace)
	if err != nil {
		return out
	}
	add := func(namespace string) {
		if namespace != from.Namespace {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: from.Name}})
		}
	}
	for i := range groups {
		if tenancy.IsGlobal(&groups[i]) {
			c.eachNamespace(ctx, add)
			continue
		}
		for _, namespace := range groups[i].Status.Namespaces {
			add(namespace)
		}
	}
	return out
}

func (c *Controller) eachNamespace(ctx context.Context, do func(name string)) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))
	if err := c.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	for i := range list.Items {
		do(list.Items[i].Name)
	}
}

// originals are the ClusterServiceVersions of a namespace that are no copies.
func (c *Controller) originals(ctx context.Context, options ...client.ListOption) []types.NamespacedName {
	var list v1alpha1.ClusterServiceVersionList
	if err := c.client.List(ctx, &list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil
	}
	var out []types.NamespacedName
	for i := range list.Items {
		if !list.Items[i].IsCopied() {
			out = append(out, client.ObjectKeyFromObject(&list.Items[i]))
		}
	}
	return out
}

// copiesOfEach are the copies of the members of a group; of all operators for an object that is no group.
func (c *Controller) copiesOfEach(ctx context.Context, o client.Object) []reconcile.Request {
	var within []client.ListOption
	if group, ok := o.(*v1.OperatorGroup); ok {
		within = append(within, client.InNamespace(group.Namespace))
	}
	var out []reconcile.Request
	for _, csv := range c.originals(ctx, within...) {
		out = append(out, c.copiesFrom(ctx, csv)...)
	}
	return out
}

// copiesFor are the copies that a namespace is to have.
func (c *Controller) copiesFor(ctx context.Context, o client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, target := range []string{metav1.NamespaceAll, o.GetName()} {
		var groups v1.OperatorGroupList
		if err := c.client.List(ctx, &groups, client.MatchingFields{indexByTarget: target}, client.UnsafeDisableDeepCopy); err != nil {
			return nil
		}
		for i := range groups.Items {
			for _, csv := range c.originals(ctx, client.InNamespace(groups.Items[i].Namespace)) {
				out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: o.GetName(), Name: csv.Name}})
			}
		}
	}
	return out
}

// appears leaves out everything but that a namespace comes into being: the copies in one that goes, go with it.
var appears = predicate.Funcs{
	UpdateFunc: func(event.UpdateEvent) bool { return false },
	DeleteFunc: func(event.DeleteEvent) bool { return false },
}

// comesOrGoes leaves the changes of an object out.
var comesOrGoes = predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}

// targetsMatter leaves out the changes of a group that copies do not depend on.
var targetsMatter = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*v1.OperatorGroup)
	after, ok2 := e.ObjectNew.(*v1.OperatorGroup)
	return ok1 && ok2 && (before.Status.IsSelected() != after.Status.IsSelected() ||
		!slices.Equal(before.Status.Namespaces, after.Status.Namespaces))
}}
