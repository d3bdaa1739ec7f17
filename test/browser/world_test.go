package browser

import (
	"context"
	"fmt"
	"log/slog"
	"net"
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

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { harness.Main(m, func() { ends() }) }

// global is the namespace of the catalogs that all namespaces see.
const global = manager.DefaultGlobalNamespace

// shared is the manager of all tests.
var shared = sync.OnceValues(func() (client.Client, error) { return harness.Start(manager.Options{}) })

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

func (w *world) console(config *rest.Config) (*console.Console, *console.OneTime, net.Listener) {
	w.Helper()
	library := must.Value(preview.OpenLibrary(w.Context(), &bundleio.Renderer{}))(w.T)
	w.Cleanup(func() { must.NoErrorf(w, library.Close(), "close the library") })
	access := console.NewOneTime(must.Value(console.NewUser(w.Context(), config, w.Namespace))(w.T))
	listener := must.Value((&net.ListenConfig{}).Listen(w.Context(), "tcp", "127.0.0.1:0"))(w.T)
	c := must.Value(console.New(console.Options{Access: access, Hosts: console.Loopback(listener.Addr()), Library: library, GlobalNamespace: global,
		Log: slog.New(slog.NewTextHandler(w.Output(), nil)), Clock: clock.RealClock{}}))(w.T)
	return c, access, listener
}

// serves adds an image as the catalogs of a name, by both APIs, and waits until they serve their content.
func (w *world) serves(name, image string) {
	w.Helper()
	source := &v1alpha1.CatalogSource{ObjectMeta: w.Named(name), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: image, DisplayName: name}}
	extensions := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: olmv1.ClusterCatalogSpec{Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: image}}}}
	w.Make(source, extensions)
	w.RemoveLater(extensions)
	w.Eventually("the catalogs "+name+" to serve their content", func() error {
		w.Read(name, source)
		if err := w.Get(w.Context(), client.ObjectKeyFromObject(extensions), extensions); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(extensions.Status.Conditions, olmv1.TypeServing) {
			return fmt.Errorf("ClusterCatalog: %+v", extensions.Status.Conditions)
		}
		if state := source.Status.GRPCConnectionState; state == nil || state.LastObservedState != "READY" {
			return fmt.Errorf("CatalogSource: %+v", source.Status)
		}
		return nil
	})
}

// as is a configuration of a user.
func as(user string, groups ...string) *rest.Config {
	config := rest.CopyConfig(devcluster.Config())
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	return config
}
