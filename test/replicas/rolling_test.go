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
	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
			if !r.alive() {
				continue
			}
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

// endpoints are where the Service of the CatalogSource leads to, as a node knows it, which learns a moment later.
type endpoints struct {
	mu   sync.Mutex
	lead []string
}

// follow keeps the endpoints up to date until the test ends.
func (e *endpoints) follow(ctx context.Context, w *world) {
	for ctx.Err() == nil {
		var slices discoveryv1.EndpointSliceList
		err := w.List(ctx, &slices, client.InNamespace(home), client.MatchingLabels{discoveryv1.LabelServiceName: w.Namespace})
		var lead []string
		for _, s := range slices.Items {
			lead = append(lead, s.Endpoints[0].Addresses[0])
		}
		if err == nil {
			time.AfterFunc(lag, func() {
				e.mu.Lock()
				defer e.mu.Unlock()
				e.lead = lead
			})
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// offers asks for the packages of the CatalogSource over gRPC, by a connection of its own.
func (e *endpoints) offers(ctx context.Context, w *world, replicas []*replica) error {
	e.mu.Lock()
	lead := e.lead
	e.mu.Unlock()
	if len(lead) == 0 {
		return errors.New("the Service of the CatalogSource leads to no one")
	}
	ip, at := lead[rand.IntN(len(lead))], ""
	for _, r := range replicas {
		if r.ip == ip {
			at = r.at
		}
	}
	conn, err := grpc.NewClient("passthrough:///"+w.Namespace+"."+home+".svc:50051", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			if at == "" {
				return nil, fmt.Errorf("nothing is at %s any more", ip)
			}
			return new(net.Dialer).DialContext(ctx, "tcp", at+":50051")
		}))
	if err != nil {
		return err
	}
	defer conn.Close()
	stream, err := registry.NewRegistryClient(conn).ListPackages(ctx, &registry.ListPackageRequest{})
	if err != nil {
		return err
	}
	name, err := stream.Recv()
	if err == nil && name.GetName() != "greeter-operator" {
		err = fmt.Errorf("it offers %q", name.GetName())
	}
	return err
}

// catalogs makes a catalog of each API, which every replica has when it returns.
func (w *world) catalogs() {
	w.Helper()
	p := bundleio.Publisher{Registry: devcluster.Registry() + "/" + w.Namespace}
	_, published := fixture.Samples(w, p, "catalog", fixture.Greeters("1.0.0"))
	content := must.Value(bundleio.Linear(published))(w)
	for i, b := range published {
		content.Bundles[i] = must.Value(b.Bundle.ToCatalog(b.Image))(w) // with its manifests, of which PackageManifests are made
	}
	ref := p.Registry + "/catalog@" + must.Value(p.Catalog(w.Context(), content, "catalog:latest"))(w)
	v1 := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}, Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}}}
	v0 := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: w.Namespace}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}}
	w.Make(v0, v1)
	w.RemoveLater(v0)
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
	service := &balancer{}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() { service.follow(ctx, w.all) })

	slices := &endpoints{}
	running.Go(func() { slices.follow(ctx, w) })

	lasting := &http.Client{Transport: &http.Transport{DialContext: service.dial}}
	single := &http.Client{Transport: &http.Transport{DialContext: service.dial, DisableKeepAlives: true}}
	api := w.restClient()
	askers := []*asking{
		{what: "PackageManifests through the API server", ask: func(ctx context.Context) error { return w.packages(ctx, api) }},
		{what: "the content of a ClusterCatalog, each time by a new connection", ask: func(ctx context.Context) error { return w.content(ctx, single, "catalogs") }},
		{what: "the content of a ClusterCatalog, by lasting connections", ask: func(ctx context.Context) error { return w.content(ctx, lasting, "catalogs") }},
		{what: "the packages of a CatalogSource over gRPC, each time by a new connection", ask: func(ctx context.Context) error { return slices.offers(ctx, w, w.all()) }},
	}
	for _, a := range askers {
		w.Eventually(a.what, func() error { return a.ask(t.Context()) })
		running.Go(func() { a.run(ctx) })
	}
	began := time.Now()
	for range sweep.Of(1, 2, 6) {
		for _, old := range w.all()[len(w.all())-2:] {
			w.replica() // the new one first, as Deployments do
			w.stop(old)
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
