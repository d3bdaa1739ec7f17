package replicas

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// lag is how long a Service leads to a replica that is not ready any more.
const lag = time.Second

// balancer leads connections to the replicas that are ready, as a Service does, which knows a moment later.
type balancer struct {
	mu    sync.Mutex
	ready []string
}

// follow keeps the balancer up to date with replicas until the test ends.
func (b *balancer) follow(ctx context.Context, replicas func() []*replica) {
	probe := &http.Client{Timeout: time.Second}
	for ctx.Err() == nil {
		var ready []string
		for _, r := range replicas() {
			if _, err := get(ctx, probe, "http://"+r.at+":8081/readyz"); err == nil {
				ready = append(ready, r.at)
			}
		}
		time.AfterFunc(lag, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.ready = ready
		})
		time.Sleep(200 * time.Millisecond)
	}
}

// dial connects to any of those that are ready.
func (b *balancer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	ready := b.ready
	b.mu.Unlock()
	if len(ready) == 0 {
		return nil, errors.New("the Service leads to no one")
	}
	return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(ready[rand.IntN(len(ready))], port))
}

// asking is one who asks again and again.
type asking struct {
	what     string
	ask      func(context.Context) error
	done     atomic.Int64
	failures []string
}

func (a *asking) run(ctx context.Context) {
	for ctx.Err() == nil {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		began := time.Now()
		err := a.ask(bounded)
		cancel()
		a.done.Add(1)
		if err != nil {
			a.failures = append(a.failures, fmt.Sprintf("%s, after %s: %v", began.Format("15:04:05.000"), time.Since(began).Round(time.Millisecond), err))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// catalogs makes a catalog of each API, which every replica has when it returns.
func (w *world) catalogs() {
	w.Helper()
	ref, _ := fixture.Samples(w, bundleio.Publisher{Registry: devcluster.Registry() + "/" + w.Namespace}, "catalog", fixture.Greeters("1.0.0"))
	v1 := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}, Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}}}
	w.Make(&v1alpha1.CatalogSource{ObjectMeta: w.Named("catalog"), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}}, v1)
	w.RemoveLater(v1)
}

// content asks for the content of the ClusterCatalog.
func (w *world) content(ctx context.Context, c *http.Client, host string) error {
	text, err := get(ctx, c, "http://"+host+":8090/catalogs/"+w.Namespace+"/api/v1/all")
	if err == nil && !strings.Contains(text, "greeter-operator") {
		err = fmt.Errorf("the content is %.200s", text)
	}
	return err
}

// packages asks the API server for the packages of the namespace.
func (w *world) packages(ctx context.Context, c rest.Interface) error {
	text, err := c.Get().AbsPath("apis", "packages.operators.coreos.com", "v1", "namespaces", w.Namespace, "packagemanifests").DoRaw(ctx)
	if err == nil && !strings.Contains(string(text), "greeter-operator") {
		err = fmt.Errorf("the packages are %.200s", text)
	}
	return err
}

// restClient is a client of the API server with connections of its own.
func (w *world) restClient() rest.Interface {
	w.Helper()
	config := devcluster.Config()
	config.GroupVersion, config.NegotiatedSerializer = &schema.GroupVersion{}, scheme.Codecs.WithoutConversion()
	return must.Value(rest.RESTClientFor(config))(w)
}

// TestEveryReplicaServes PackageManifests, the contents of ClusterCatalogs and metrics, whoever leads.
func TestEveryReplicaServes(t *testing.T) {
	w := newWorld(t)
	w.replica()
	w.catalogs()
	w.replica()
	w.replica()
	leaders := 0
	for _, r := range w.replicas {
		w.Eventually(r.pod.Name+" to serve the ClusterCatalog", func() error { return w.content(t.Context(), http.DefaultClient, r.at) })
		if leads, err := r.leads(t.Context()); err != nil {
			t.Errorf("%s serves no metrics: %v", r.pod.Name, err)
		} else if leads {
			leaders++
		}
	}
	must.Equal(t, "number of leaders", leaders, 1)
	c := w.restClient()
	w.Eventually("packages", func() error { return w.packages(t.Context(), c) })
	for len(w.replicas) > 1 { // packages are asked for through the API server, so one replica after the other is to answer alone
		r := w.replicas[0]
		w.replicas = w.replicas[1:]
		w.stop(r)
		must.NoErrorf(t, w.packages(t.Context(), c), "ask for packages when %s has ended", r.pod.Name)
	}
	must.NoErrorf(t, w.content(t.Context(), http.DefaultClient, w.replicas[0].at), "ask the last replica")
	must.Equal(t, "the last one to lead", w.leader() == w.replicas[0], true)
}

// TestARollingRestartLosesNoRequest: all replicas are replaced one after the other, each when a new one is ready, while clients ask.
func TestARollingRestartLosesNoRequest(t *testing.T) {
	w := newWorld(t)
	w.replica()
	w.catalogs()
	w.replica()
	var mu sync.Mutex
	current := func() []*replica {
		mu.Lock()
		defer mu.Unlock()
		return append([]*replica(nil), w.replicas...)
	}
	service := &balancer{}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { service.follow(ctx, current) })

	lasting := &http.Client{Transport: &http.Transport{DialContext: service.dial}}
	single := &http.Client{Transport: &http.Transport{DialContext: service.dial, DisableKeepAlives: true}}
	api := w.restClient()
	askers := []*asking{
		{what: "PackageManifests through the API server", ask: func(ctx context.Context) error { return w.packages(ctx, api) }},
		{what: "the content of a ClusterCatalog, each time by a new connection", ask: func(ctx context.Context) error { return w.content(ctx, single, "catalogs") }},
		{what: "the content of a ClusterCatalog, by lasting connections", ask: func(ctx context.Context) error { return w.content(ctx, lasting, "catalogs") }},
	}
	for _, a := range askers {
		w.Eventually(a.what, func() error { return a.ask(t.Context()) })
		running.Go(func() { a.run(ctx) })
	}
	began := time.Now()
	for range sweep.Of(1, 2, 6) {
		for _, old := range current()[:2] {
			mu.Lock()
			w.replica() // the new one first, as Deployments do
			mu.Unlock()
			w.stop(old)
			mu.Lock()
			w.replicas = w.replicas[1:]
			mu.Unlock()
		}
	}
	took := time.Since(began)
	stop()
	running.Wait()
	for _, a := range askers {
		t.Logf("%s: %d requests in %.0f s of rolling restarts, %d failed", a.what, a.done.Load(), took.Seconds(), len(a.failures))
		if len(a.failures) > 0 {
			t.Errorf("%s: %d requests failed:\n%s", a.what, len(a.failures), strings.Join(a.failures[:min(5, len(a.failures))], "\n"))
		}
	}
}
