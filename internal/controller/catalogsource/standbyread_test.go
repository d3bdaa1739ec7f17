package catalogsource

import (
	"crypto/tls"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogserver"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/bigcatalog"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
)

// registryServer serves a catalog on loopback, behind a certificate if there is one.
type registryServer struct {
	t       *testing.T
	address string
	set     *catalogserver.Set
}

func newRegistryServer(t *testing.T, pkg string, certificates ...tls.Certificate) *registryServer {
	t.Helper()
	s := &registryServer{t: t, set: &catalogserver.Set{}}
	s.publish(pkg)
	listener := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must.NoError(t, err)
	s.address = "localhost:" + port
	if len(certificates) > 0 {
		listener = tls.NewListener(listener, &tls.Config{Certificates: certificates, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12})
	}
	health := catalogserver.NewHealth()
	health.Set(true)
	running := catalogserver.NewGRPC(s.set, health, slog.New(slog.DiscardHandler), catalogserver.GRPCOptions{})
	go running.Serve(listener)
	t.Cleanup(running.Stop)
	return s
}

func (s *registryServer) publish(pkg string) {
	s.t.Helper()
	c, err := catalog.Load(s.t.Context(), files(pkg), catalog.LoadOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	x, err := catalog.NewIndex(c, pkg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.set.Publish("c", x)
}

func files(pkg string) fstest.MapFS {
	return fstest.MapFS{"configs/catalog.yaml": {Data: []byte(standbyContent(pkg)["catalog.yaml"])}}
}

// ask lets the catalog be one of that spec.
func (w *standbyWorld) ask(spec v1alpha1.CatalogSourceSpec) {
	w.t.Helper()
	s := w.source()
	s.Spec = spec
	if err := w.client.Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// images lets the world pull images, from a registry on loopback whose address it returns.
func (w *standbyWorld) images() string {
	w.t.Helper()
	registry := httptest.NewServer(image.NewRegistry(""))
	w.t.Cleanup(registry.Close)
	store, err := image.Open(w.t.TempDir(), image.Config{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Images.Images = store
	return strings.TrimPrefix(registry.URL, "http://")
}

func push(t *testing.T, ref string, tree fstest.MapFS, labels map[string]string) {
	t.Helper()
	must.Value(image.Push(t.Context(), ref, tree, labels, image.PushOptions{}))(t)
}

func (w *standbyWorld) expect(when, want string) {
	w.t.Helper()
	if got := w.looks(false); got != want {
		e, _ := w.Contents.Get(standbyRef)
		w.t.Errorf("%s: %s, want %s (%s)", when, got, want, e.Problem)
	}
}

// TestAnImage is read again once the manager that leads has polled it.
func TestAnImage(t *testing.T) {
	w := newStandbyWorld(t)
	name := w.images() + "/catalog:latest"
	push(t, name, files("one"), image.CatalogLabels())
	w.ask(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: name})
	w.expect("at first", "one")
	push(t, name, files("two"), image.CatalogLabels())
	w.clock.Step(time.Hour)
	w.expect("while nobody has polled", "one")
	w.polled()
	w.expect("after a poll", "two")
	before, _ := w.Contents.Get(standbyRef)
	w.clock.Step(time.Minute)
	w.polled()
	w.expect("after a poll of the same image", "two")
	if after, _ := w.Contents.Get(standbyRef); after.Index != before.Index {
		t.Error("the same image was indexed again")
	}
}

// polled says in the status that the image was polled just now.
func (w *standbyWorld) polled() {
	w.t.Helper()
	s := w.source()
	now := s.Status.LatestImageRegistryPoll.DeepCopy()
	if now == nil {
		now = &s.CreationTimestamp
	}
	now.Time = w.clock.Now()
	s.Status.LatestImageRegistryPoll = now
	if err := w.client.Status().Update(w.t.Context(), s); err != nil {
		w.t.Fatal(err)
	}
}

// TestARegistryServer is read every 15 minutes: nothing says that it has something new.
func TestARegistryServer(t *testing.T) {
	w := newStandbyWorld(t)
	server := newRegistryServer(t, "one")
	w.ask(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: server.address})
	w.expect("at first", "one")
	server.publish("two")
	w.clock.Step(serversEvery - time.Second)
	w.expect("before its time", "one")
	w.clock.Step(time.Second)
	w.expect("after its time", "two")
}

// TestAnImageThatCanOnlyBeRun is read from its pod, once the status says where that is.
func TestAnImageThatCanOnlyBeRun(t *testing.T) {
	w := newStandbyWorld(t)
	name := w.images() + "/server:latest"
	push(t, name, files("hidden"), map[string]string{"a": "b"})
	pod := newRegistryServer(t, "one")
	asked := ""
	w.dial = func(address string, o grpccatalog.Options) (*grpccatalog.Client, error) {
		asked = address
		return grpccatalog.Dial(pod.address, o)
	}
	w.ask(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: name})
	w.expect("before the pod", ", with a problem")
	must.Equal(t, "asked", asked, "")
	s := w.source()
	s.Status.RegistryServiceStatus = &v1alpha1.RegistryServiceStatus{Protocol: "grpc", ServiceName: "catalog", ServiceNamespace: "olm", Port: "50051"}
	must.NoError(t, w.client.Status().Update(t.Context(), s))
	w.clock.Step(catalogstore.FirstRetry)
	w.expect("with its pod", "one")
	must.Equal(t, "asked", asked, "catalog.olm.svc:50051")
}

// TestAuthoritiesOfASecret decide whether a server is believed.
func TestStandbyAuthoritiesOfASecret(t *testing.T) {
	pair, right := issue(t)
	_, wrong := issue(t)
	for name, test := range map[string]struct {
		certificates []tls.Certificate
		ca           []byte
		want         string
	}{
		"the right authority":                {[]tls.Certificate{pair}, right, "one"},
		"another authority":                  {[]tls.Certificate{pair}, wrong, ", with a problem"},
		"a plain server, and an authority":   {nil, right, ", with a problem"},
		"a plain server, and no authority":   {nil, nil, "one"},
		"a certificate, and no authority":    {[]tls.Certificate{pair}, nil, "one"},
		"what is no certificate":             {[]tls.Certificate{pair}, []byte("x"), ", with a problem"},
		"the right one among two in a chain": {[]tls.Certificate{pair}, append(append([]byte{}, wrong...), right...), "one"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newStandbyWorld(t)
			secret := &corev1.Secret{Data: map[string][]byte{"ca.crt": test.ca}}
			secret.Namespace, secret.Name = standbyRef.Namespace, "authority"
			must.NoError(t, w.client.Create(t.Context(), secret))
			w.ask(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: newRegistryServer(t, "one", test.certificates...).address, Secrets: []string{"authority"}})
			w.expect("with "+name, test.want)
		})
	}
	t.Run("a secret that is missing", func(t *testing.T) {
		w := newStandbyWorld(t)
		w.ask(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: newRegistryServer(t, "one").address, Secrets: []string{"missing"}})
		w.expect("without it", ", with a problem")
		if e, _ := w.Contents.Get(standbyRef); !strings.Contains(e.Problem, "read secret olm/missing") {
			t.Errorf("the problem is %q", e.Problem)
		}
	})
}

// TestAHostileServer is refused by the limit on the memory of a catalog, and reading it takes a turn of all who read catalogs.
func TestAHostileServer(t *testing.T) {
	w := newStandbyWorld(t)
	w.Images.Indexes.Limits.MemoryBytes = 4 << 20
	w.Images.Indexes.Flags = map[string]string{"MemoryBytes": "--catalog-max-memory of the manager"}
	w.ask(v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Address: bigcatalog.ServeHostile(t, "server-entries")})
	w.looks(false)
	e, _ := w.Contents.Get(standbyRef)
	for _, part := range []string{"MemoryBytes is 4194304", "--catalog-max-memory of the manager"} {
		must.Contain(t, "the problem", e.Problem, part)
	}
}
