// Package harness is what end-to-end tests share: managers on their clusters, waiting, and writing objects and images. It holds nothing of
// any kind of scenario; start reading at Main and Run.
package harness

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/must"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// startTimeout is how long a manager may take until it is ready, which takes a second on an idle machine.
const startTimeout = 2 * time.Minute

// store is the directory of the content of the shared manager, which outlives single tests.
var store string

// Main is for TestMain of a package whose tests have managers of the whole cluster, such as the one that they share. That cluster is the
// package's own. What managers log is not for the output of tests: those say themselves what is wrong. What is to be done after the tests is
// done before the cluster ends.
func Main(m *testing.M, after ...func()) {
	ctrl.SetLogger(logr.Discard())
	devcluster.MainAlone(m, append(after, func() { _ = os.RemoveAll(store) })...)
}

// Shared starts the manager that all tests of the package share, once, and returns a client of its cluster.
var Shared = sync.OnceValues(func() (client.Client, error) { return Start(manager.Options{}) })

// Start is Shared for a manager with options of the package, which calls it once. Where its content is kept is not among them. A package that
// counts what the manager asks gives the configuration of its cluster with a counter in it.
func Start(o manager.Options) (client.Client, error) {
	if o.Config == nil {
		o.Config = devcluster.Config()
	}
	c, err := prepare(context.Background(), o.Config)
	if err != nil {
		return nil, err
	}
	o.AcceptMissingPolicies = true
	return c, startShared(o)
}

func startShared(o manager.Options) (err error) {
	if store, err = os.MkdirTemp("", "fairlead-e2e-"); err != nil {
		return err
	}
	o.StoreDir = store
	ready, ended := start(context.Background(), o)
	select {
	case <-ready:
		return nil
	case err := <-ended:
		return err
	}
}

// Client installs the project's APIs in a cluster, and returns a client that knows them.
func Client(t testing.TB, config *rest.Config) client.WithWatch {
	t.Helper()
	return must.Value(prepare(t.Context(), config))(t)
}

func prepare(ctx context.Context, config *rest.Config) (client.WithWatch, error) {
	if err := manager.InstallCRDs(ctx, config); err != nil {
		return nil, err
	}
	return clientOf(config)
}

// Run is RunAsShipped on a cluster without the admission policies of the v1 API, which is accepted.
func Run(t testing.TB, o manager.Options) (stop func()) {
	t.Helper()
	o.AcceptMissingPolicies = true
	return RunAsShipped(t, o)
}

// RunAsShipped runs a manager until stop is called or the test ends, and returns when it is ready. Its content is kept in a directory of the
// test where the options name none.
func RunAsShipped(t testing.TB, o manager.Options) (stop func()) {
	t.Helper()
	if o.StoreDir == "" {
		o.StoreDir = t.TempDir()
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := start(ctx, o)
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the manager ended with %v", err)
		}
	})
	t.Cleanup(stop)
	select {
	case <-ready:
	case err := <-ended:
		ended <- nil
		t.Fatalf("the manager ended: %v", err)
	case <-time.After(startTimeout):
		t.Fatalf("the manager is not ready after %s", startTimeout)
	}
	return stop
}

// start starts a manager in the background.
func start(ctx context.Context, o manager.Options) (ready chan struct{}, ended chan error) {
	ready, ended = make(chan struct{}), make(chan error, 1)
	o.Ready = func() { close(ready) }
	if o.StableAfter == 0 {
		o.StableAfter = -1 // pods are simulated: that they run for a while shows nothing
	}
	go func() { ended <- manager.Run(ctx, o) }()
	return ready, ended
}

// History is the way of a ClusterServiceVersion through its phases, with their reasons.
func History(csv *v1alpha1.ClusterServiceVersion) []string {
	var out []string
	for _, c := range csv.Status.Conditions {
		out = append(out, fmt.Sprintf("%s/%s", c.Phase, c.Reason))
	}
	return out
}
