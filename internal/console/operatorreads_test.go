package console

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// asking records what is read, as "get KIND NAME" and "list KIND OPTIONS".
type asking struct {
	mu        sync.Mutex
	all       []string
	now, most int // requests that are under way
	delay     time.Duration
}

// add records a request, which takes a while.
func (a *asking) add(text string) {
	a.mu.Lock()
	a.all = append(a.all, text)
	a.now++
	a.most = max(a.most, a.now)
	delay := a.delay
	a.mu.Unlock()
	time.Sleep(delay)
	a.mu.Lock()
	a.now--
	a.mu.Unlock()
}

// takes returns what was read since it was called last, and how much of it at once, and lets requests take so long from now on.
func (a *asking) takes(delay time.Duration) (all []string, atOnce int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	all, atOnce = a.all, a.most
	a.all, a.most, a.delay = nil, a.now, delay
	return all, atOnce
}

func (a *asking) records(c client.WithWatch) client.WithWatch {
	kind := func(o any) string { return fmt.Sprintf("%T", o) }
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			a.add("get " + kind(o) + " " + o.GetObjectKind().GroupVersionKind().Kind + " " + key.String())
			return c.Get(ctx, key, o, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			a.add(fmt.Sprintf("list %s %s %v", kind(list), list.GetObjectKind().GroupVersionKind().Kind, options))
			return c.List(ctx, list, options...)
		}})
}

// TestOperatorReadsOnce: the pages of an operator read nothing twice, and no more than they show; what does not depend on each other is read at once.
func TestOperatorReadsOnce(t *testing.T) {
	a := &asking{}
	objects := append(subscribes("ops", "mine"), extended("apps", "modern", "a", "b")...)
	v := newTour(t, a.records, append(append(objects, deployed("ops", "mine", "no image")...), kiteDefinition())...)
	v.shows(http.StatusOK, "/jobs") // every page asks for the namespaces and for what waits, now and then
	v.shows(http.StatusOK, "/jobs?namespace=ops")
	v.shows(http.StatusOK, "/jobs?namespace=apps")
	for _, page := range []struct {
		at         string
		most       int // requests,
		atOnce     int // of which so many are under way together
		comparison bool
	}{
		{"/operator/Subscription/ops/mine", 22, 4, true},
		{"/operator/ClusterExtension/apps/modern", 19, 4, true},
		{"/operator/ClusterExtension/apps/modern/diff", 2, 1, false},
		{"/operator/ClusterExtension/apps/modern/rollback", 2, 1, false},
	} {
		v.shows(http.StatusOK, page.at)
		if page.comparison {
			v.console.standings.settle()
		}
		a.takes(0)
		a.takes(10 * time.Millisecond)
		v.shows(http.StatusOK, page.at)
		all, atOnce := a.takes(0)
		slices.Sort(all)
		if n := len(all); n > page.most {
			t.Errorf("%s makes %d requests, want %d at most: %v", page.at, n, page.most, all)
		}
		if once := slices.Compact(slices.Clone(all)); len(once) != len(all) {
			t.Errorf("%s reads something twice: %v", page.at, all)
		}
		if atOnce < page.atOnce {
			t.Errorf("%s makes %d requests at once, want %d", page.at, atOnce, page.atOnce)
		}
	}
}
