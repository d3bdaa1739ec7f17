package clusterextension

import (
	"context"
	"maps"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// ownerOfRevision is the extension of a revision.
func ownerOfRevision(_ context.Context, o client.Object) []reconcile.Request {
	if name := revision.NameOf(o); name != "" {
		return []reconcile.Request{requestFor(name)}
	}
	return nil
}

// all are all extensions.
func (c *Controller) all(context.Context, client.Object) []reconcile.Request {
	return c.those(func(*decision) bool { return true })
}

// open are the extensions that could have something else if others had, or that have needs, which others may meet no more.
func (c *Controller) open(_ context.Context, o client.Object) []reconcile.Request {
	var out []reconcile.Request
	for _, r := range c.those(func(d *decision) bool { return d.open || d.needs }) {
		if r.Name != o.GetName() {
			out = append(out, r)
		}
	}
	return out
}

// forNamespace are the extensions that are for a namespace.
func (c *Controller) forNamespace(_ context.Context, o client.Object) []reconcile.Request {
	return c.those(func(d *decision) bool { return d.namespace == o.GetName() })
}

// forbidden are the extensions whose service accounts lack permissions.
func (c *Controller) forbidden(context.Context, client.Object) []reconcile.Request {
	return c.those(func(d *decision) bool { return d.forbidden })
}

// those are the extensions whose last decision is of a certain kind. One of which there was none yet has its pass ahead.
func (c *Controller) those(concerned func(*decision) bool) []reconcile.Request {
	var out []reconcile.Request
	c.decided.Range(func(name, last any) bool {
		if concerned(last.(*decision)) {
			out = append(out, requestFor(name.(string)))
		}
		return true
	})
	return out
}

// deleted lets the beginning of a deletion pass.
var deleted = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	return e.ObjectOld.GetDeletionTimestamp().IsZero() != e.ObjectNew.GetDeletionTimestamp().IsZero()
}}

// comesOrGoes leaves out everything but that an object appears, disappears, or is about to.
var comesOrGoes = deleted

// describedOtherwise lets pass what decides whether and when a catalog is asked. Where its content comes from does not: that there is other
// content is told by the content itself, and concerns fewer.
var describedOtherwise = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, is := e.ObjectOld.(*olmv1.ClusterCatalog)
	after, too := e.ObjectNew.(*olmv1.ClusterCatalog)
	return is && too && (before.Spec.Priority != after.Spec.Priority || before.Spec.AvailabilityMode != after.Spec.AvailabilityMode ||
		!maps.Equal(before.Labels, after.Labels) || deleted.Update(e))
}}

// installedChanged lets pass that an extension has something else installed than before.
var installedChanged = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, is := e.ObjectOld.(*olmv1.ClusterExtension)
		after, too := e.ObjectNew.(*olmv1.ClusterExtension)
		return is && too && !equality.Semantic.DeepEqual(before.Status.Install, after.Status.Install)
	},
}
