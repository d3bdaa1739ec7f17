package trigger

import (
	"slices"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A request that fails is repeated after firstRepeat, then after twice as long each time, up to lastRepeat. The libraries' own limit is 17
// minutes: after an API server was away for that long, nothing would be done for as long again, although nobody is in the way any more.
const (
	firstRepeat = 5 * time.Millisecond
	lastRepeat  = 30 * time.Second
)

// Options are those of a controller that works on so many requests at once.
func Options(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRepeat, lastRepeat),
	}
}

// Within leaves out the events of objects in other namespaces than those that a manager is limited to; without any it leaves out none. Some kinds are seen in
// all namespaces even then: what they lead to elsewhere belongs to another manager, and is not in the caches of this one.
func Within(namespaces []string) predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool {
		return len(namespaces) == 0 || o.GetNamespace() == "" || slices.Contains(namespaces, o.GetNamespace())
	})
}
