package install

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
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

// ownWorld is a cluster of which nothing need be left, for a test that runs at the same time as others.
func ownWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	status := devcluster.Own(t)
	return worldOf(t, status.Kubeconfig, status.Registry)
}

func worldOf(t *testing.T, kubeconfig, registry string) *world {
	t.Helper()
	admin := must.Value(clientcmd.BuildConfigFromFlags("", kubeconfig))(t)
	admin.QPS = -1
	return &world{t: t, Client: harness.ClientOf(t, admin), admin: admin, kubeconfig: kubeconfig, registry: registry}
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	harness.Create(w.t, w, objects...)
}

func (w *world) succeeds(namespace, name string) *v1alpha1.ClusterServiceVersion {
	w.t.Helper()
	csv := &v1alpha1.ClusterServiceVersion{}
	harness.Await(w.t, w, client.ObjectKey{Namespace: namespace, Name: name}, csv, name+" to succeed", func() error {
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
	tree := must.Value(fs.Sub(examples.Bundles, "bundles"))(w.t)
	all := must.Value(bundleio.ReadSource(tree))(w.t)
	var sources []bundleio.BundleSource
	for _, s := range all {
		if s.Bundle.Package == "greeter-operator" && s.Bundle.Version.Version.LTE(semver.MustParse(upTo)) {
			sources = append(sources, s)
		}
	}
	p := bundleio.Publisher{Registry: w.registry}
	published := must.Value(p.Push(w.t.Context(), sources))(w.t)
	c, err := bundleio.Linear(published)
	if err != nil {
		w.t.Fatal(err)
	}
	for i, b := range published {
		if c.Bundles[i], err = b.Bundle.ToCatalog(b.Image); err != nil { // with its manifests, of which PackageManifests are made
			w.t.Fatal(err)
		}
	}
	must.Value(p.Catalog(w.t.Context(), c, "install-catalog:latest"))(w.t)
	return p.Registry + "/install-catalog:latest"
}

// asManager is the configuration of a pod that runs as the service account of the manifests. A refused request is an error of the test.
func (w *world) asManager() *rest.Config {
	w.t.Helper()
	return harness.AsManager(w.t, w.admin)
}

// run runs the manager as the Deployment does, until the returned function is called or the test is over.
func (w *world) run(config *rest.Config) (stop func()) {
	w.t.Helper()
	return w.runWith(config, nil)
}

// runWith is run with other options.
func (w *world) runWith(config *rest.Config, change func(*manager.Options)) (stop func()) {
	w.t.Helper()
	must.NoError(w.t, manager.InstallCRDs(w.t.Context(), config))
	embedded := must.Value(devcluster.Connect(filepath.Dir(w.kubeconfig)))(w.t)
	route := func(ctx context.Context, local netip.AddrPort) (netip.AddrPort, func(), error) {
		return embedded.Expose(ctx, local)
	}
	o := manager.Options{Config: config, Log: harness.Log(w.t),
		LeaderElection: true, LeaderNamespace: "olm", GlobalNamespace: "olm", CatalogPods: catalogsource.PodOptions{Settings: grpccatalog.Settings{RunAsUser: 1001}},
		CatalogAddress: "127.0.0.1:0", CatalogAdvertise: "192.0.2.7:50051", PackageServer: manager.PackageServer{Namespace: "olm", Route: route}}
	if change != nil {
		change(&o)
	}
	return harness.RunAsShipped(w.t, o)
}

// gone waits until an object is no more.
func (w *world) gone(o client.Object) {
	w.t.Helper()
	must.Eventually(w.t, strings.TrimPrefix(fmt.Sprintf("%T %s to go", o, o.GetName()), "*"), func() error {
		err := w.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
		if client.IgnoreNotFound(err) == nil && err != nil {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
}
