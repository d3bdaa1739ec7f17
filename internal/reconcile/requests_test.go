package reconcile

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	metadatafake "k8s.io/client-go/metadata/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/test/must"
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
		must.Equal(t, "within the delay", q.Len(), 0)
		time.Sleep(2 * Burst)
		synctest.Wait()
		must.Equal(t, "after the burst", q.Len(), 2)
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
	must.Equal(t, "max concurrent reconciles", Options(7).MaxConcurrentReconciles, 7)
}

func requestOf(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

func TestSource(t *testing.T) {
	var n Source
	n.Add(requestOf("early"))
	n.Tell(func(context.Context) []reconcile.Request {
		t.Error("looks for somebody to tell before the controller has started")
		return nil
	})
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	type key struct{}
	must.NoError(t, n.Start(context.WithValue(t.Context(), key{}, "the controller's"), q))
	n.Add(requestOf("one"))
	n.Tell(func(ctx context.Context) []reconcile.Request {
		must.Equal(t, "whom it concerns is looked for with another context than the controller's", ctx.Value(key{}), "the controller's")
		return []reconcile.Request{requestOf("two"), requestOf("one"), requestOf("three")}
	})
	var got []string
	for q.Len() > 0 {
		r, _ := q.Get()
		got = append(got, r.Namespace+"/"+r.Name)
		q.Done(r)
	}
	if len(got) != 3 || got[0] != "ns/one" || got[1] != "ns/two" || got[2] != "ns/three" {
		t.Errorf("told are %q", got)
	}
}

// TestOnSecret: what is there at the start is no change, a repeated event of the same version neither; the Secret is asked for by its name.
func TestWatchSecret(t *testing.T) {
	scheme := metadatafake.NewTestScheme()
	must.NoError(t, metav1.AddMetaToScheme(scheme))
	secret := func(version string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pull", ResourceVersion: version}}
	}
	server, events, asked := metadatafake.NewSimpleMetadataClient(scheme, secret("1")), watch.NewFake(), make(chan string, 10)
	server.PrependWatchReactor("secrets", func(action clienttesting.Action) (bool, watch.Interface, error) {
		asked <- action.GetNamespace() + " " + action.(clienttesting.WatchAction).GetWatchRestrictions().Fields.String()
		return true, events, nil
	})
	changes := make(chan struct{}, 10)
	WatchSecret(t.Context(), server, "ns", "pull", func() { changes <- struct{}{} })
	must.Equal(t, "it asks", within(t, asked), "ns metadata.name=pull")
	for _, tell := range []func(){func() { events.Modify(secret("2")) }, func() { events.Delete(secret("2")) }, func() { events.Add(secret("3")) }} {
		tell()
		within(t, changes)
	}
	events.Modify(secret("3")) // the same again
	events.Modify(secret("4"))
	within(t, changes)
	select {
	case <-changes:
		t.Error("what has not changed is a change")
	default:
	}
}

// within waits for a value, generously.
func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing happens for a minute")
		panic("unreachable")
	}
}

func TestWithin(t *testing.T) {
	for name, test := range map[string]struct {
		limits    []string
		namespace string
		want      bool
	}{
		"no limits":                {nil, "a", true},
		"a namespace of its own":   {[]string{"a", "b"}, "b", true},
		"another namespace":        {[]string{"a", "b"}, "c", false},
		"an object of the cluster": {[]string{"a"}, "", true},
	} {
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: test.namespace}}
		within := Within(test.limits)
		must.Equal(t, name+": created", within.Create(event.CreateEvent{Object: o}), test.want)
		must.Equal(t, name+": updated", within.Update(event.UpdateEvent{ObjectOld: o, ObjectNew: o}), test.want)
		must.Equal(t, name+": deleted", within.Delete(event.DeleteEvent{Object: o}), test.want)
	}
}

func TestSooner(t *testing.T) {
	for name, c := range map[string]struct{ a, b, want time.Duration }{
		"never":            {0, 0, 0},
		"long past":        {-time.Second, -time.Minute, 0},
		"the only one":     {time.Minute, 0, time.Minute},
		"one is past":      {time.Minute, -time.Second, time.Minute},
		"the earlier":      {time.Minute, time.Second, time.Second},
		"at the same time": {time.Second, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if got, turned := Sooner(c.a, c.b), Sooner(c.b, c.a); got != c.want || turned != c.want {
				t.Errorf("%s, the other way round %s; want %s", got, turned, c.want)
			}
		})
	}
}
