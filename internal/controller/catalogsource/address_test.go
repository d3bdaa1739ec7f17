package catalogsource

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	googlegrpc "google.golang.org/grpc"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/test/must"
)

// server is a registry server on loopback.
type server struct {
	t       *testing.T
	address string
	set     *catalogserver.Set
	health  *catalogserver.Health
	running *googlegrpc.Server
}

func newServer(t *testing.T, content string) *server {
	t.Helper()
	s := &server{t: t, address: "127.0.0.1:0", set: &catalogserver.Set{}}
	s.publish(content)
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) start() {
	s.t.Helper()
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address, s.health = listener.Addr().String(), catalogserver.NewHealth()
	s.health.Set(true)
	s.running = catalogserver.NewGRPC(s.set, s.health, slog.New(slog.DiscardHandler), catalogserver.GRPCOptions{})
	go s.running.Serve(listener)
}

func (s *server) stop() { s.running.Stop() }

func (s *server) publish(content string) {
	s.t.Helper()
	c, err := catalog.Load(s.t.Context(), tree(content), catalog.LoadOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	x, err := catalog.NewIndex(c, content)
	if err != nil {
		s.t.Fatal(err)
	}
	s.set.Publish("c", x)
}

// dialling lets the controller reach servers, and tells when it wants to look at a catalog again.
func (w *world) dialling() <-chan catalog.Ref {
	changed := make(chan catalog.Ref, 100)
	w.c.links.dial = func(address string, authorities []byte) (remote, error) {
		return grpccatalog.Dial(address, grpccatalog.Options{Authorities: authorities})
	}
	w.c.links.changed = func(r catalog.Ref) { changed <- r }
	return changed
}

// until reconciles whenever that is asked for, until a condition holds.
func (w *world) until(changed <-chan catalog.Ref, what string, holds func(*v1alpha1.CatalogSource) bool) *v1alpha1.CatalogSource {
	w.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		if _, s := w.reconcile(); holds(s) {
			return s
		}
		select {
		case <-changed:
		case <-time.After(100 * time.Millisecond): // stands for the pause that Reconcile asks for
			w.Clock.Step(catalogstore.FirstRetry)
		case <-deadline:
			w.t.Fatalf("not %s: %+v", what, w.source().Status)
		}
	}
}

func atAddress(address string) v1alpha1.CatalogSourceSpec {
	return v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: address}
}

func observed(state string) func(*v1alpha1.CatalogSource) bool {
	return func(s *v1alpha1.CatalogSource) bool {
		return s.Status.GRPCConnectionState != nil && s.Status.GRPCConnectionState.LastObservedState == state
	}
}

func TestACatalogOfARegistryServer(t *testing.T) {
	first, second := newServer(t, good), newServer(t, strings.ReplaceAll(good, `"a"`, `"b"`))
	w := newWorld(t, source(atAddress(first.address)))
	changed := w.dialling()
	s := w.until(changed, "connected", observed("READY"))
	if c := s.Status.GRPCConnectionState; c.Address != first.address || !c.LastConnectTime.Time.Equal(w.Clock.Now()) {
		t.Errorf("connectionState %+v", c)
	}
	if r := s.Status.RegistryServiceStatus; r == nil || r.Protocol != "grpc" || r.ServiceName != "" {
		t.Errorf("registryService %+v", r)
	}
	if s.Status.LatestImageRegistryPoll != nil {
		t.Error("a poll of an image is told of, and there is no image")
	}
	must.Equal(t, "packages", w.packages(), []string{"a"})
	must.Equal(t, "ready reason", readyReason(s), "True Serving")
	w.update(func(s *v1alpha1.CatalogSource) { s.Spec.Address = second.address })
	s = w.until(changed, "at the other address", func(s *v1alpha1.CatalogSource) bool {
		return s.Status.GRPCConnectionState.Address == second.address && len(w.packages()) == 1 && w.packages()[0] == "b"
	})
	if !observed("READY")(s) {
		t.Errorf("status %+v", s.Status)
	}
}

func TestAServerIsPolled(t *testing.T) {
	remote := newServer(t, good)
	w := newWorld(t, source(atAddress(remote.address)))
	changed := w.dialling()
	w.until(changed, "connected", observed("READY"))
	time.Sleep(50 * time.Millisecond) // what the connection still tells of its beginning
	for len(changed) > 0 {
		<-changed
		w.reconcile()
	}
	w.reconcile()
	served := w.c.memory.known[ref].index
	w.Taken()
	w.Clock.Step(20 * time.Minute)
	if result, _ := w.reconcile(); len(w.Writes()) > 0 || w.c.memory.known[ref].index != served || result.RequeueAfter < 15*time.Minute {
		t.Errorf("a poll of unchanged content: writes %v, another index %t, again in %s", w.Writes(), w.c.memory.known[ref].index != served, result.RequeueAfter)
	}
	remote.publish(good + strings.ReplaceAll(good, `"a"`, `"b"`))
	w.Clock.Step(20 * time.Minute)
	if w.reconcile(); len(w.packages()) != 2 {
		t.Errorf("packages %v, want those that the server has now", w.packages())
	}
	// Content whose outline stays the same is noticed within the hour.
	remote.publish(strings.ReplaceAll(good, "registry.example.com/a:v1", "registry.example.com/a:v2") + strings.ReplaceAll(good, `"a"`, `"b"`))
	for range 5 {
		w.Clock.Step(20 * time.Minute)
		w.reconcile()
	}
	if b, ok := w.c.memory.known[ref].index.Bundle("a", "a.v1.0.0"); !ok || b.Image != "registry.example.com/a:v2" {
		t.Errorf("the bundle is %+v", b)
	}
}

func TestAServerGoesAndComesBack(t *testing.T) {
	remote := newServer(t, good)
	w := newWorld(t, source(atAddress(remote.address)))
	changed := w.dialling()
	w.until(changed, "connected", observed("READY"))
	remote.stop()
	w.until(changed, "failing", observed("TRANSIENT_FAILURE"))
	if w.packages() == nil {
		t.Error("what was served last is gone")
	}
	s := w.until(changed, "told", func(s *v1alpha1.CatalogSource) bool { w.Clock.Step(20 * time.Minute); return s.Status.Message != "" })
	if readyReason(s) != "True ServingLastGoodContent" || s.Status.Reason != "RegistryServerError" || !strings.Contains(s.Status.Message, "connection refused") {
		t.Errorf("status %+v", s.Status)
	}
	w.Taken()
	for range 5 { // attempts to connect continue, and nothing is written about them
		time.Sleep(20 * time.Millisecond)
		w.reconcile()
	}
	must.Empty(t, "writes while nothing changed", w.Writes())
	remote.publish(good + strings.ReplaceAll(good, `"a"`, `"b"`))
	remote.start()
	s = w.until(changed, "connected again", func(s *v1alpha1.CatalogSource) bool { return observed("READY")(s) && len(w.packages()) == 2 })
	must.Equal(t, "ready reason", readyReason(s), "True Serving")
	must.Equal(t, "message", s.Status.Message, "")
}

// TestAServerReturnsWithCorrectedContent: under the same packages, channels and heads, which is all that a poll compares. Another connection
// may lead to another server, or to one that was started again, so everything is read.
func TestAServerReturnsWithCorrectedContent(t *testing.T) {
	remote := newServer(t, good)
	w := newWorld(t, source(atAddress(remote.address)))
	changed := w.dialling()
	w.until(changed, "connected", observed("READY"))
	began := w.Clock.Now()
	remote.stop()
	w.until(changed, "failing", observed("TRANSIENT_FAILURE"))
	remote.publish(strings.ReplaceAll(good, "registry.example.com/a:v1", "registry.example.com/a:v2"))
	remote.start()
	w.until(changed, "corrected", func(s *v1alpha1.CatalogSource) bool {
		b, ok := w.c.memory.known[ref].index.Bundle("a", "a.v1.0.0")
		return observed("READY")(s) && ok && b.Image == "registry.example.com/a:v2"
	})
	if took := w.Clock.Since(began); took >= completeEvery {
		t.Errorf("it took %s, in which everything is read in any case", took)
	}
}

func TestServersThatCannotServe(t *testing.T) {
	for name, test := range map[string]struct {
		address func(t *testing.T) string
		want    string
	}{
		"nobody listens": {func(*testing.T) string { return "127.0.0.1:1" }, "connection refused"},
		"not an address": {func(*testing.T) string { return "unix:///x" }, "an address is written HOST:PORT"},
		"says that it does not serve": {func(t *testing.T) string {
			s := newServer(t, good)
			s.health.Set(false)
			return s.address
		}, "it says that it does not serve now (NOT_SERVING)"},
		"no registry at all": {func(t *testing.T) string {
			listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
			s := googlegrpc.NewServer()
			go s.Serve(listener)
			t.Cleanup(s.Stop)
			return listener.Addr().String()
		}, "unknown service api.Registry"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, source(atAddress(test.address(t))))
			changed := w.dialling()
			s := w.until(changed, "told", func(s *v1alpha1.CatalogSource) bool { return s.Status.Message != "" })
			if s.Status.Reason != "RegistryServerError" || !strings.Contains(s.Status.Message, test.want) || readyReason(s) != "False RegistryServerError" {
				t.Errorf("status %+v, want %s", s.Status, test.want)
			}
		})
	}
}
