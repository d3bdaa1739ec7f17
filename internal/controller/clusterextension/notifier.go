package clusterextension

import (
	"context"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/reconcile"

	ctrl "sigs.k8s.io/controller-runtime"
)

// Notifier brings news that are no Kubernetes events to the controller: new content of catalogs, and bundles that have arrived.
type Notifier struct {
	controller *Controller
	news       reconcile.Source
}

// BundleArrived looks at the extensions that wait for a bundle.
func (n *Notifier) BundleArrived() {
	if n.controller == nil {
		return
	}
	n.controller.fetching.Range(func(name, _ any) bool {
		n.news.Add(requestFor(name.(string)))
		return true
	})
}

// PoliciesChanged reconciles all extensions: other admission or signature policies are in force than before.
func (n *Notifier) PoliciesChanged() {
	if n.controller == nil {
		return
	}
	n.news.Tell(func(ctx context.Context) []ctrl.Request { return n.controller.all(ctx, nil) })
}

// catalogChanged looks at the extensions that new content of a catalog concerns: those whose package it has otherwise than before, and those
// that lack something.
func (n *Notifier) catalogChanged(ref catalog.Ref) {
	entry, _ := n.controller.Catalogs.Get(ref)
	n.news.Tell(func(context.Context) []ctrl.Request {
		return n.controller.those(func(d *decision) bool { return d.concerns(ref.Name, entry.Index) })
	})
}
