package reconcile

import (
	"math"
	"strconv"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// orderlyQueue is a priority queue that shuts down only when no worker waits for a request any more. The one of the library gives a request to
// a worker that has left because of the shutdown, if the two coincide, and then waits for it forever with its locks held: a worker that is
// still busy cannot return its request, never ends, and the manager runs into the end of its grace period.
type orderlyQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	mu      sync.Mutex
	closed  bool
	waiting int // workers that wait for a request
}

// GetWithPriority waits for a request, or for the shutdown.
func (q *orderlyQueue) GetWithPriority() (r reconcile.Request, priority int, shutdown bool) {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return r, 0, true
	}
	q.waiting++
	q.mu.Unlock()
	r, priority, _ = q.PriorityQueue.GetWithPriority()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting--
	if !q.closed {
		return r, priority, false
	}
	q.Done(r) // a request that only woke this worker, or one that comes again at the next start
	if q.waiting == 0 {
		q.PriorityQueue.ShutDown()
	}
	return reconcile.Request{}, 0, true
}

// Get is GetWithPriority without the priority.
func (q *orderlyQueue) Get() (r reconcile.Request, shutdown bool) {
	r, _, shutdown = q.GetWithPriority()
	return r, shutdown
}

// ShutDown lets every worker that waits end with a request of its own.
func (q *orderlyQueue) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.closed = true
	if q.waiting == 0 {
		q.PriorityQueue.ShutDown()
		return
	}
	first := math.MaxInt
	for i := range q.waiting {
		wake := reconcile.Request{}
		wake.Name = "/shutdown/" + strconv.Itoa(i) // which no object is called
		q.AddWithOpts(priorityqueue.AddOpts{Priority: &first}, wake)
	}
}

// ShutDownWithDrain is ShutDown: workers return what they work on.
func (q *orderlyQueue) ShutDownWithDrain() { q.ShutDown() }

// ShuttingDown reports whether the queue takes no requests any more.
func (q *orderlyQueue) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}
