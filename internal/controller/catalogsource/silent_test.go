package catalogsource

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// silence is an address where connections are taken, and nothing is ever said.
func silence(t *testing.T) string {
	t.Helper()
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	var mu sync.Mutex
	var open []net.Conn
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, conn := range open {
			conn.Close()
		}
	})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
		}
	}()
	return listener.Addr().String()
}

// TestAHundredSilentCatalogs: of each it is reported in time that nothing is said, with the workers that there are; and one that can be read is
// served beside them.
func TestAHundredSilentCatalogs(t *testing.T) {
	const n = 100
	address := silence(t)
	w := newWorld(t, source(grpc(0)))
	var refs []catalog.Ref
	for i := range n {
		s := source(atAddress(address))
		s.Name, s.UID = fmt.Sprintf("silent%d", i), types.UID(fmt.Sprint("uid", i))
		w.create(s)
		refs = append(refs, catalog.Ref{Namespace: s.Namespace, Name: s.Name})
	}
	refs = append(refs, ref)
	queue := make(chan catalog.Ref, 100*n)
	w.c.grace, w.c.waiting = grace, make(chan struct{}, workers/2)
	w.c.loads.slots = make(chan struct{}, maxLoads)
	w.dialling()
	w.c.links.changed = func(catalog.Ref) {} // the ends of loads are enough here
	w.c.loads.finished = func(r catalog.Ref) { queue <- r }
	begun := time.Now()
	for _, r := range refs {
		queue <- r
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				select {
				case r := <-queue:
					_, _ = w.c.Reconcile(t.Context(), ctrl.Request{NamespacedName: types.NamespacedName{Namespace: r.Namespace, Name: r.Name}}) // told below
				case <-done:
					return
				}
			}
		})
	}
	told := 0
	for told < n+1 && time.Since(begun) < must.Within(30*time.Second) {
		time.Sleep(100 * time.Millisecond)
		var list v1alpha1.CatalogSourceList
		must.NoError(t, w.client.List(t.Context(), &list, client.InNamespace("olm")))
		told = 0
		for i := range list.Items {
			s := &list.Items[i]
			if s.Status.Reason == v1alpha1.CatalogSourceRegistryServerError && strings.Contains(s.Status.Message, address) || readyReason(s) == "True Serving" {
				told++
			}
		}
	}
	close(done)
	all.Wait()
	if took := time.Since(begun); told < n+1 || took > must.Within(12*time.Second) {
		t.Errorf("%d of %d were told of after %s", told, n+1, took)
	}
}
