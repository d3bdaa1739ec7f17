package reconcile

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Burst is a delay that no one notices and that most bursts fit in.
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

// Source brings requests to a controller that no Kubernetes event leads to, such as of content that has arrived. The zero value is ready; Start is
// a source of the controller.
type Source struct {
	mu    sync.Mutex
	ctx   context.Context // of the controller, as long as it runs
	queue queue
}

// Start is called when the queue of the controller is ready. Before, there is nothing to tell: a controller checks everything when it starts.
func (n *Source) Start(ctx context.Context, q queue) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ctx, n.queue = ctx, q
	return nil
}

// Add makes a request.
func (n *Source) Add(r reconcile.Request) {
	n.Tell(func(context.Context) []reconcile.Request { return []reconcile.Request{r} })
}

// Tell makes the requests of those whom it concerns, which are searched only where there is a queue.
func (n *Source) Tell(whom func(context.Context) []reconcile.Request) {
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

// WatchSecret calls changed for each change of a Secret from now on, until ctx ends. It watches that Secret alone, by its name and without its
// content: the Secrets of a cluster are many, and most are no one's business.
func WatchSecret(ctx context.Context, server metadata.Interface, namespace, name string, changed func()) {
	informer := metadatainformer.NewFilteredMetadataInformer(server, corev1.SchemeGroupVersion.WithResource("secrets"), namespace, 0,
		cache.Indexers{}, func(o *metav1.ListOptions) {
			o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
		}).Informer()
	version := func(object any) string { return object.(*metav1.PartialObjectMetadata).ResourceVersion }
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{ // fails only once the informer was stopped
		AddFunc: func(_ any, first bool) {
			if !first {
				changed()
			}
		},
		UpdateFunc: func(before, after any) {
			if version(before) != version(after) {
				changed()
			}
		},
		DeleteFunc: func(any) { changed() },
	})
	go informer.RunWithContext(ctx)
}

// A request that fails is repeated after firstRepeat, then after twice as long each time, up to lastRepeat. The libraries' own limit is 17
// minutes: after an API server was away for that long, nothing would be done for as long again, although no one is in the way any more.
const (
	firstRepeat = 5 * time.Millisecond
	lastRepeat  = 30 * time.Second
)

// Options are those of a controller that works on so many requests at once.
func Options(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRepeat, lastRepeat),
		NewQueue: func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) queue {
			return &orderlyQueue{PriorityQueue: priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter })}
		},
	}
}

// Within leaves out the events of objects in other namespaces than those that a manager is limited to; without any it leaves out none. Some kinds are seen in
// all namespaces even then: what they lead to elsewhere belongs to another manager, and is not in the caches of this one.
func Within(namespaces []string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool {
		return len(namespaces) == 0 || o.GetNamespace() == "" || slices.Contains(namespaces, o.GetNamespace())
	})
}

// Sooner is the earlier one of two times from now to reconcile again, of which 0 or less is never. It is 0 where both are.
func Sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b <= 0 {
		return max(a, b, 0)
	}
	return min(a, b)
}
