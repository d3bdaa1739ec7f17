package trigger

import (
	"context"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// News brings requests to a controller that no Kubernetes event leads to, such as of content that has arrived. The zero value is ready; Start is
// a source of the controller.
type News struct {
	mu    sync.Mutex
	ctx   context.Context // of the controller, as long as it runs
	queue queue
}

// Start is called when the queue of the controller is ready. Before, there is nothing to tell: a controller looks at everything when it starts.
func (n *News) Start(ctx context.Context, q queue) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ctx, n.queue = ctx, q
	return nil
}

// Add makes a request.
func (n *News) Add(r reconcile.Request) {
	n.Tell(func(context.Context) []reconcile.Request { return []reconcile.Request{r} })
}

// Tell makes the requests of those whom it concerns, who are looked for only where there is somebody to tell.
func (n *News) Tell(whom func(context.Context) []reconcile.Request) {
	n.mu.Lock()
	ctx, q := n.ctx, n.queue
	n.mu.Unlock()
	if q == nil {
		return
	}
	for _, r := range whom(ctx) {
		q.Add(r)
	}
}
