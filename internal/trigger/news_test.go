package trigger

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func requestOf(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

func TestNews(t *testing.T) {
	var n News
	n.Add(requestOf("early"))
	n.Tell(func(context.Context) []reconcile.Request {
		t.Error("looks for somebody to tell before the controller has started")
		return nil
	})
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	type key struct{}
	if err := n.Start(context.WithValue(t.Context(), key{}, "the controller's"), q); err != nil {
		t.Fatal(err)
	}
	n.Add(requestOf("one"))
	n.Tell(func(ctx context.Context) []reconcile.Request {
		if ctx.Value(key{}) != "the controller's" {
			t.Error("whom it concerns is looked for with another context than the controller's")
		}
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
