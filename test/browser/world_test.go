package browser

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/console"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) {
	harness.Main(m, func() {
		ends()
		if err := closeLibrary(); err != nil {
			panic(err)
		}
	})
}

// global is the namespace of the catalogs that all namespaces see.
const global = manager.DefaultGlobalNamespace

// shared is the manager of all tests, which serves PackageManifests too: those who may not read catalogs find packages by them.
var shared = sync.OnceValues(func() (client.Client, error) {
	c, err := client.New(devcluster.Config(), client.Options{})
	if err != nil {
		return nil, err
	}
	if err := c.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: global}}); err != nil {
		return nil, err
	}
	embedded, err := devcluster.Connect(filepath.Dir(devcluster.Kubeconfig()))
	if err != nil {
		return nil, err
	}
	route := func(ctx context.Context, local netip.AddrPort) (netip.AddrPort, func(), error) {
		return embedded.Expose(ctx, local)
	}
	return harness.Start(manager.Options{PackageServer: manager.PackageServer{Namespace: global, Route: route}})
})

// world is a test with a namespace of its own.
type world struct{ harness.World }

func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := program(); err != nil {
		t.Skip("there is no Chromium: install the package chromium of Debian, or any other build of it, to run this test")
	}
	return &world{harness.NewWorld(t, shared)}
}

// open opens the console in a browser, as the user of a configuration who works in the namespace of the test.
func (w *world) open(config *rest.Config) *tab {
	w.Helper()
	c, access, listener := w.console(config)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- c.Serve(ctx, listener) }()
	w.Cleanup(func() {
		stop()
		must.NoErrorf(w, <-served, "serve the console")
	})
	return newTab(w.T, "http://"+listener.Addr().String()+access.Query())
}

// library is what all consoles of this process have read of catalogs and bundles, as one for many users has it.
var library = sync.OnceValues(func() (*preview.Library, error) {
	l, err := preview.OpenLibrary(context.Background(), &bundleio.Renderer{})
	if err == nil {
		closeLibrary = l.Close
	}
	return l, err
})

var closeLibrary = func() error { return nil }

func (w *world) console(config *rest.Config) (*console.Console, *console.OneTime, net.Listener) {
	w.Helper()
	access := console.NewOneTime(must.Value(console.NewUser(w.Context(), config, w.Namespace))(w.T))
	listener := must.Value((&net.ListenConfig{}).Listen(w.Context(), "tcp", "127.0.0.1:0"))(w.T)
	c := must.Value(console.New(console.Options{Access: access, Hosts: console.Loopback(listener.Addr()), Library: must.Value(library())(w.T), OwnMachine: true, GlobalNamespace: global,
		Log: slog.New(slog.DiscardHandler), Clock: clock.RealClock{}}))(w.T)
	return c, access, listener
}

var catalogs struct {
	sync.Mutex
	serve bool
}

// community makes the public catalog be served by both APIs to all namespaces, once for all tests, and waits until it is.
func (w *world) community() {
	w.Helper()
	image := communityCatalog(w)
	catalogs.Lock()
	defer catalogs.Unlock()
	if catalogs.serve {
		return
	}
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: global, Name: "community"},
		Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: image, DisplayName: "community"}}
	extensions := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: "community"},
		Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: image}}}}
	w.Make(source, extensions)
	w.Eventually("the catalogs to serve their content", func() error {
		for _, o := range []client.Object{source, extensions} {
			if err := w.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
		}
		if !meta.IsStatusConditionTrue(extensions.Status.Conditions, olmv1.TypeServing) {
			return fmt.Errorf("ClusterCatalog: %+v", extensions.Status.Conditions)
		}
		if state := source.Status.GRPCConnectionState; state == nil || state.LastObservedState != "READY" {
			return fmt.Errorf("CatalogSource: %+v", source.Status)
		}
		return nil
	})
	catalogs.serve = true
}

// as is a configuration of a user.
func as(user string, groups ...string) *rest.Config {
	config := rest.CopyConfig(devcluster.Config())
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	return config
}
