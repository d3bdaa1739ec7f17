package trigger

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestABurstIsOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		h := After(Burst, func(_ context.Context, o client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace()}}}
		})
		of := func(namespace string) client.Object {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
		}
		h.Create(t.Context(), event.CreateEvent{Object: of("a")}, q)
		for range 10 {
			h.Update(t.Context(), event.UpdateEvent{ObjectOld: of("a"), ObjectNew: of("a")}, q)
			time.Sleep(Burst / 20)
		}
		h.Delete(t.Context(), event.DeleteEvent{Object: of("b")}, q)
		if n := q.Len(); n != 0 {
			t.Errorf("within the delay %d requests are due", n)
		}
		time.Sleep(2 * Burst)
		synctest.Wait()
		if n := q.Len(); n != 2 {
			t.Errorf("after the burst %d requests are due, want one for each namespace", n)
		}
	})
}

// TestLossWakes: a changed object wakes those that it was about before, and each of those that it is about once.
func TestLossWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()
		h := After(Burst, func(_ context.Context, o client.Object) []reconcile.Request {
			var out []reconcile.Request
			for name := range o.GetLabels() {
				out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
			}
			return out
		})
		of := func(labels ...string) client.Object {
			o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}}}
			for _, label := range labels {
				o.Labels[label] = ""
			}
			return o
		}
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: of("lost", "kept"), ObjectNew: of("kept", "gained")}, q)
		time.Sleep(2 * Burst)
		synctest.Wait()
		woken := map[string]bool{}
		for range q.Len() {
			r, _ := q.Get()
			woken[r.Name] = true
		}
		if !woken["lost"] || !woken["kept"] || !woken["gained"] {
			t.Errorf("woken is %v, want what was lost, kept and gained", woken)
		}
	})
}

// TestFailuresAreRepeatedSoonEnough: whatever went wrong for however long, half a minute after its end it is tried again.
func TestFailuresAreRepeatedSoonEnough(t *testing.T) {
	limiter, last := Options(1).RateLimiter, time.Duration(0)
	for range 100 {
		wait := limiter.When(reconcile.Request{})
		if wait < last || wait > 30*time.Second {
			t.Fatalf("after a wait of %s comes one of %s", last, wait)
		}
		last = wait
	}
	if last < 10*time.Second {
		t.Errorf("what fails all the time is repeated each %s", last)
	}
	if o := Options(7); o.MaxConcurrentReconciles != 7 {
		t.Errorf("%d workers", o.MaxConcurrentReconciles)
	}
}
