package trigger

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Burst is a delay that nobody notices and that most bursts fit in.
const Burst = 200 * time.Millisecond

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// After returns a handler that enqueues what the function maps an object to, once the delay is over. A changed object is mapped as it is and
// as it was: what it has lost, such as a label or the subject of a binding, concerns those that it was about before.
func After(delay time.Duration, requests handler.MapFunc) handler.EventHandler {
	add := func(ctx context.Context, q queue, objects ...client.Object) {
		added := map[reconcile.Request]bool{}
		for _, object := range objects {
			for _, r := range requests(ctx, object) {
				if !added[r] {
					added[r] = true
					q.AddAfter(r, delay) // of several additions of the same request the earliest counts
				}
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { add(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { add(ctx, q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { add(ctx, q, e.Object) },
	}
}
