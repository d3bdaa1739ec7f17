package reconcile

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// TestQueueShutsDown lets workers and a shutdown coincide, many times: every worker ends. With the queue of the library alone one of them does not.
func TestQueueShutsDown(t *testing.T) {
	for round := range 500 {
		q := Options(1).NewQueue("", workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for {
					r, shutdown := q.Get()
					if shutdown {
						return
					}
					time.Sleep(time.Duration(round%7) * time.Microsecond)
					q.Done(r)
				}
			})
		}
		var adder sync.WaitGroup
		adder.Go(func() {
			for i := range 50 {
				r := reconcile.Request{}
				r.Name = strconv.Itoa(i)
				q.Add(r)
			}
		})
		time.Sleep(time.Duration(round%50) * time.Microsecond)
		q.ShutDown()
		ended := make(chan struct{})
		go func() { workers.Wait(); adder.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatalf("in round %d a worker did not end", round)
		}
	}
}
