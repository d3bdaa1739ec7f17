package clusterextension

import (
	"context"
	"sync"

	"fairlead.dev/fairlead/internal/catalogset"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Notifier brings news that are no Kubernetes events to the controller: new content of catalogs, and bundles that have arrived.
type Notifier struct {
	controller *Controller

	mu    sync.Mutex
	queue workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// start is called when the queue of the controller is ready. Before, there is nothing to tell: every extension is looked at when it starts.
func (n *Notifier) start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.queue = queue
	return nil
}

// BundleArrived looks at the extensions that wait for a bundle.
func (n *Notifier) BundleArrived() {
	if n.controller == nil {
		return
	}
	n.controller.fetching.Range(func(name, _ any) bool {
		n.add(requestFor(name.(string)))
		return true
	})
}

// catalogChanged looks at the extensions that new content of a catalog concerns: those whose package it has otherwise than before, and those
// that lack something.
func (n *Notifier) catalogChanged(ref catalogset.Ref) {
	entry, _ := n.controller.Catalogs.Get(ref)
	for _, r := range n.controller.those(context.Background(), func(d *decision) bool { return d.concerns(ref.Name, entry.Index) }) {
		n.add(r)
	}
}

func (n *Notifier) add(r reconcile.Request) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.queue != nil {
		n.queue.Add(r)
	}
}
