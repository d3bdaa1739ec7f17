package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/publish"
	"fairlead.dev/fairlead/internal/registrypod"
	"fairlead.dev/fairlead/test/harness"

	"github.com/blang/semver/v4"
	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { devcluster.MainAlone(m) }

// world is the cluster as its administrator sees it.
type world struct {
	t *testing.T
	client.Client
	admin      *rest.Config
	kubeconfig string
	registry   string
}

// newWorld is the cluster that tests share.
func newWorld(t *testing.T) *world {
	t.Helper()
	return worldOf(t, devcluster.Kubeconfig(), devcluster.Registry())
}

// ownWorld is a cluster of which nothing need be left.
func ownWorld(t *testing.T) *world {
	t.Helper()
	status := devcluster.Own(t)
	return worldOf(t, status.Kubeconfig, status.Registry)
}

func worldOf(t *testing.T, kubeconfig, registry string) *world {
	t.Helper()
	admin, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	admin.QPS = -1
	return &world{t: t, Client: harness.ClientOf(t, admin), admin: admin, kubeconfig: kubeconfig, registry: registry}
}

// eventually waits until a check finds nothing to complain about.
func (w *world) eventually(what string, check func() error) {
	w.t.Helper()
	harness.Eventually(w.t, what, check)
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	harness.Create(w.t, w, objects...)
}

func (w *world) succeeds(namespace, name string) *v1alpha1.ClusterServiceVersion {
	w.t.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	w.eventually(name+" to succeed", func() error {
		if err := w.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, csv); err != nil {
			return err
		}
		if csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
			return fmt.Errorf("it is %s: %s", csv.Status.Phase, csv.Status.Message)
		}
		return nil
	})
	return csv
}

// catalog publishes the sample operators up to a version, under the same name each time.
func (w *world) catalog(upTo string) string {
	w.t.Helper()
	tree, err := fs.Sub(examples.Bundles, "bundles")
	if err != nil {
		w.t.Fatal(err)
	}
	all, err := publish.Read(tree)
	if err != nil {
		w.t.Fatal(err)
	}
	var sources []publish.Source
	for _, s := range all {
		if s.Bundle.Package == "greeter-operator" && s.Bundle.Version.Version.LTE(semver.MustParse(upTo)) {
			sources = append(sources, s)
		}
	}
	p := publish.Publisher{Registry: w.registry}
	published, err := p.Push(w.t.Context(), sources)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := publish.Linear(published)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, b := range published {
		if c.Bundles[i], err = b.Bundle.ToCatalog(b.Image); err != nil { // with its manifests, of which PackageManifests are made
			w.t.Fatal(err)
		}
	}
	if _, err := p.Catalog(w.t.Context(), c, "install-catalog:latest"); err != nil {
		w.t.Fatal(err)
	}
	return p.Registry + "/install-catalog:latest"
}

// refusals are the requests that the API server has not allowed.
type refusals struct {
	next http.RoundTripper
	mu   *sync.Mutex
	seen map[string]string
}

// RoundTrip implements http.RoundTripper.
func (r refusals) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := r.next.RoundTrip(request)
	if err == nil && answer.StatusCode == http.StatusForbidden {
		body, failed := io.ReadAll(answer.Body)
		answer.Body.Close()
		answer.Body = io.NopCloser(bytes.NewReader(body))
		if failed == nil && bytes.Contains(body, []byte("because it is being terminated")) {
			return answer, nil // nobody may create anything in a namespace that goes
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen[request.Method+" "+request.URL.Path] = answer.Status
	}
	return answer, err
}

// asManager is the configuration of a pod that runs as the service account of the manifests. What is refused to it is an error of the test
// in the end.
func (w *world) asManager() *rest.Config {
	w.t.Helper()
	clients, err := kubernetes.NewForConfig(w.admin)
	if err != nil {
		w.t.Fatal(err)
	}
	token, err := clients.CoreV1().ServiceAccounts("olm").CreateToken(w.t.Context(), "fairlead-manager", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(w.admin)
	config.BearerToken = token.Status.Token
	refused := refusals{mu: &sync.Mutex{}, seen: map[string]string{}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { refused.next = next; return refused })
	w.t.Cleanup(func() {
		refused.mu.Lock()
		defer refused.mu.Unlock()
		for request, status := range refused.seen {
			w.t.Errorf("the manager may not: %s: %s", request, status)
		}
	})
	return config
}

// run runs the manager as the Deployment does, until the returned function is called or the test is over.
func (w *world) run(config *rest.Config) (stop func()) {
	w.t.Helper()
	if err := manager.InstallCRDs(w.t.Context(), config); err != nil {
		w.t.Fatal(err)
	}
	embedded, err := devcluster.Connect(filepath.Dir(w.kubeconfig))
	if err != nil {
		w.t.Fatal(err)
	}
	route := func(ctx context.Context, local netip.AddrPort) (netip.AddrPort, func(), error) {
		return embedded.Expose(ctx, local)
	}
	return harness.Run(w.t, manager.Options{Config: config, Log: w.log(),
		LeaderElection: true, LeaderNamespace: "olm", GlobalNamespace: "olm", CatalogPods: catalogsource.PodOptions{Settings: registrypod.Settings{RunAsUser: 1001}},
		CatalogAddress: "127.0.0.1:0", CatalogAdvertise: "192.0.2.7:50051", PackageServer: manager.PackageServer{Namespace: "olm", Route: route}})
}

// log keeps what the manager says, and shows it when the test has failed.
func (w *world) log() logr.Logger {
	said := &lines{}
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("the manager said:\n%s", said)
		}
	})
	return logr.FromSlogHandler(slog.NewTextHandler(said, nil))
}

// lines is text that many write.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns all of it.
func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// gone waits until an object is no more.
func (w *world) gone(o client.Object) {
	w.t.Helper()
	w.eventually(strings.TrimPrefix(fmt.Sprintf("%T %s to go", o, o.GetName()), "*"), func() error {
		err := w.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
		if client.IgnoreNotFound(err) == nil && err != nil {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
}
