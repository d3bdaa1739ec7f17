package packageserver

import (
	"cmp"
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/internal/rollout/serving"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serves begins to serve in another process.
func (w *registrar) serves(address string) *Registration {
	w.t.Helper()
	other := w.another(w.client)
	other.options.Address = netip.MustParseAddrPort(address)
	w.alive[address] = true
	w.begins(other)
	return other
}

func (w *registrar) begins(r *Registration) {
	w.t.Helper()
	must.NoError(w.t, r.Prepare(w.t.Context()))
	must.Value(r.reconcile(w.t.Context()))(w.t)
}

// registered tells whether there is an APIService.
func (w *registrar) registered() bool {
	w.t.Helper()
	live := must.Value(w.apiService(w.t.Context()))(w.t)
	return live != nil
}

func (w *registrar) others() int {
	w.t.Helper()
	others := must.Value(w.peers(w.t.Context(), w.reader))(w.t)
	return len(others)
}

// goes withdraws a process, without waiting for API servers that there are not.
func (w *registrar) goes(r *Registration) {
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Millisecond)
	defer cancel()
	must.NoError(w.t, r.withdraw(ctx))
}

// TestTwoProcesses show the same certificate, each has its endpoint, neither undoes what the other writes, and the last to go takes the API along.
func TestTwoProcesses(t *testing.T) {
	w := newRegistrar(t)
	w.alive["10.0.0.7:5443"] = true
	w.begins(w.Registration)
	other := w.serves("10.0.0.8:6443")
	if !serving.Same(w.Provider().Certificate(), other.Provider().Certificate()) || w.others() != 1 {
		t.Errorf("they show different certificates, or there are %d other endpoints", w.others())
	}
	before := w.versions()
	for _, r := range []*Registration{w.Registration, other, w.Registration} {
		must.Value(r.reconcile(t.Context()))(t)
	}
	must.Equal(t, "they undo what the other has written: then", w.versions(), before)
	w.goes(w.Registration)
	w.request("after the first has gone")
	w.goes(other)
	must.Equal(t, "the APIService is still there after the last has gone", w.registered(), false)
}

// TestTwoStopAtTheSameTime still answer each other while they go.
func TestTwoStopAtTheSameTime(t *testing.T) {
	for range 20 {
		w := newRegistrar(t)
		w.alive["10.0.0.7:5443"] = true
		w.begins(w.Registration)
		other := w.serves("10.0.0.8:5443")
		var both sync.WaitGroup
		for _, r := range []*Registration{w.Registration, other} {
			both.Go(func() { w.goes(r) })
		}
		both.Wait()
		if w.registered() {
			t.Fatal("the APIService is still there after both have gone")
		}
	}
}

// TestEndpointOfTheDead does not keep the last process from taking the API along.
func TestEndpointOfTheDead(t *testing.T) {
	w := newRegistrar(t)
	w.begins(w.Registration)
	w.serves("10.0.0.8:5443")
	w.reconciles() // which puts the endpoint back that the other one did not believe in
	w.alive["10.0.0.8:5443"] = false
	if w.others() != 1 {
		t.Fatal("the dead process has no endpoint, which proves nothing")
	}
	w.goes(w.Registration)
	must.Equal(t, "the APIService stays for a process that does not answer", w.registered(), false)
}

// TestAfterAKill begins after a process that was killed: what it has left goes before anything is served, so that namespaces can be deleted
// from then on whatever else goes wrong.
func TestAfterAKill(t *testing.T) {
	for name, left := range map[string]func(w *registrar){
		"by a process elsewhere": func(w *registrar) { w.serves("10.0.0.8:5443"); w.alive["10.0.0.8:5443"] = false },
		"by this one":            func(w *registrar) { w.begins(w.another(w.client)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newRegistrar(t)
			left(w)
			if !w.registered() {
				t.Fatal("nothing was left, which proves nothing")
			}
			must.NoError(t, w.Prepare(t.Context()))
			if w.registered() || w.others() != 0 {
				t.Errorf("the APIService is there: %t, with %d endpoints", w.registered(), w.others())
			}
			w.reconciles()
			w.request("when it serves")
		})
	}
	w := newRegistrar(t)
	w.serves("10.0.0.8:5443")
	must.NoError(t, w.Prepare(t.Context()))
	if !w.registered() || w.others() != 1 {
		t.Error("a process that serves is swept away by the next one")
	}
}

// TestSupervision removes the endpoint of who does not answer twice, and is the more patient with who comes back.
func TestSupervision(t *testing.T) {
	w := newRegistrar(t)
	w.alive["10.0.0.7:5443"] = true
	w.begins(w.Registration)
	other := w.serves("10.0.0.8:5443")
	s := supervision{failed: map[string]int{}, allowed: map[string]int{}}
	looks := func(n int) {
		t.Helper()
		for range n {
			must.Value(w.removeSilent(t.Context(), w.reader, s.givenUp))(t)
		}
	}
	looks(10)
	if w.others() != 1 {
		t.Fatal("who answers is removed")
	}
	w.alive["10.0.0.8:5443"] = false
	looks(strikes - 1)
	if w.others() != 1 {
		t.Fatal("who does not answer once is removed")
	}
	looks(1)
	if w.others() != 0 {
		t.Fatal("who does not answer stays")
	}
	for wait := 4 * strikes; wait <= 4*maxStrikes; wait *= 4 {
		if _, err := other.reconcile(t.Context()); err != nil { // it serves, and puts its endpoint back
			t.Fatal(err)
		}
		looks(min(wait, maxStrikes) - 1)
		if w.others() != 1 {
			t.Fatalf("removed again before %d looks", wait)
		}
		looks(1)
		if w.others() != 0 {
			t.Fatalf("not removed again after %d looks", wait)
		}
	}
}

// TestItsNamespaceIsDeleted goes at once, as long as it may, and does not come back.
func TestItsNamespaceIsDeleted(t *testing.T) {
	for _, home := range []string{"", "elsewhere"} {
		t.Run("at home in "+home, func(t *testing.T) {
			w := newRegistrar(t)
			w.options.Home = home
			w.begins(w.Registration)
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cmp.Or(home, w.options.Namespace)}}
			if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(namespace), namespace); apierrors.IsNotFound(err) {
				must.NoError(t, w.client.Create(t.Context(), namespace))
			}
			namespace.Finalizers = []string{"example.com/wait"} // as the real one stays until it is empty
			must.NoError(t, w.client.Update(t.Context(), namespace))
			must.NoError(t, w.client.Delete(t.Context(), namespace))
			for range 2 {
				w.reconciles()
				must.Equal(t, "the APIService keeps the namespace from going", w.registered(), false)
			}
		})
	}
}

// TestDifferentCertificates lets two processes show different ones for a while: both are believed, and they do not fight over it.
func TestDifferentCertificates(t *testing.T) {
	w := newRegistrar(t)
	w.alive["10.0.0.7:5443"] = true
	w.begins(w.Registration)
	secret, _, err := w.store.Load(t.Context())
	must.NoError(t, err)
	must.NoError(t, w.client.Delete(t.Context(), secret))
	other := w.serves("10.0.0.8:5443") // which has nothing to show, and shows the new one at once
	if serving.Same(other.Provider().Certificate(), w.Provider().Certificate()) {
		t.Fatal("both show the same, which proves nothing")
	}
	w.request("while two certificates are shown")
	before := w.versions()
	for _, r := range []*Registration{w.Registration, other, w.Registration, other} {
		must.Value(r.reconcile(t.Context()))(t)
		w.request("while two certificates are shown")
	}
	must.Equal(t, "they undo what the other has written: then", w.versions(), before)
}

// TestProbe asks a server.
func TestProbe(t *testing.T) {
	code := http.StatusOK
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		must.Equal(t, "asked", r.URL.Path, "/readyz")
		w.WriteHeader(code)
	}))
	defer server.Close()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	address := strings.TrimPrefix(server.URL, "https://")
	p := prober{host: "example.com"} // as the certificate of such servers says
	must.NoError(t, p.probe(t.Context(), address, authority))
	if p.probe(t.Context(), address, nil) == nil || (prober{host: "example.org"}).probe(t.Context(), address, authority) == nil {
		t.Error("a server whose certificate nobody believes counts as one that serves")
	}
	code = http.StatusServiceUnavailable
	if p.probe(t.Context(), address, authority) == nil {
		t.Error("a server that is not ready counts as one that serves")
	}
	server.Close()
	if p.probe(t.Context(), address, authority) == nil || p.probe(t.Context(), "", authority) == nil {
		t.Error("nobody counts as one that serves")
	}
}
