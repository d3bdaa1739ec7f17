package catalogsource

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	devcluster.Main(m)
}

// world is a namespace of the cluster, and the registry.
type world struct {
	harness.World
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return &world{harness.NewWorld(t, func() (client.Client, error) { return harness.Client(t, devcluster.Config()), nil })}
}

// run runs a manager for the namespace until stop is called, or the test ends.
func (w *world) run(config *rest.Config, change func(*manager.Options)) (stop func()) {
	w.Helper()
	o := manager.Options{Config: config, Namespaces: []string{w.Namespace}, InstallPlanRetryTimeout: 2 * time.Second}
	if change != nil {
		change(&o)
	}
	return harness.Run(w.T, o)
}

// asked are an OperatorGroup, the catalog, polled each second, and a Subscription for package op. The group targets its own namespace: others
// share the cluster, and would have copies of operators that watch all namespaces.
func (w *world) asked() []client.Object {
	return []client.Object{&operatorsv1.OperatorGroup{ObjectMeta: w.Named("own"), Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{w.Namespace}}}, w.catalogSource(),
		&v1alpha1.Subscription{ObjectMeta: w.Named("op"), Spec: &v1alpha1.SubscriptionSpec{CatalogSource: "catalog", CatalogSourceNamespace: w.Namespace, Package: "op"}}}
}

func (w *world) catalogSource() *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{ObjectMeta: w.Named("catalog"), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: w.ref("catalog:latest"),
		UpdateStrategy: &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: time.Second}, RawInterval: "1s"}}}}
}

func (w *world) ref(name string) string {
	return devcluster.Registry() + "/" + w.Namespace + "/" + name
}

func (w *world) push(name string, files map[string]string, labels map[string]string) string {
	w.Helper()
	harness.Push(w.T, w.ref(name), files, labels)
	return w.ref(name)
}

// source reads the CatalogSource.
func (w *world) source() (*v1alpha1.CatalogSource, error) {
	var s v1alpha1.CatalogSource
	err := w.Get(w.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "catalog"}, &s)
	return &s, err
}

// gate decides whether there is a way to the API server.
type gate struct {
	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool
	broken int
}

// through is a way to the API server that can be closed.
func (g *gate) through(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.closed {
			return nil, errors.Join(errors.New("the gate is closed"), conn.Close())
		}
		if g.open == nil {
			g.open = map[net.Conn]bool{}
		}
		g.open[conn] = true
		return conn, nil
	}
	return config
}

// set closes or opens the gate.
func (g *gate) set(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = closed
	if closed {
		for conn := range g.open {
			_ = conn.Close() // whoever reads from it finds out
			delete(g.open, conn)
			g.broken++
		}
	}
}
