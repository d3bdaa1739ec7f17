package operations

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

func TestMain(m *testing.M) { devcluster.MainAlone(m) }

// config is where the shipped manifests are.
const config = "../../config"

// cluster is one that a test has for itself.
type cluster struct {
	harness.World
	admin      *rest.Config
	kubeconfig string
	registry   string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the embedded cluster")
	}
	status := devcluster.Own(t)
	admin := must.Value(clientcmd.BuildConfigFromFlags("", status.Kubeconfig))(t)
	admin.QPS = -1
	return &cluster{World: harness.World{T: t, Client: harness.ClientOf(t, admin)}, admin: admin, kubeconfig: status.Kubeconfig, registry: status.Registry}
}

// run applies the definitions, and runs the manager as the Deployment of the manifests does, until stop is called or the test is over.
func (c *cluster) run() (stop func()) {
	c.Helper()
	must.NoError(c, manager.InstallCRDs(c.Context(), c.admin))
	return c.runBeside()
}

// runBeside is run with the definitions that the cluster has, as with --install-crds=false. The manager has the rights of its service account.
func (c *cluster) runBeside() (stop func()) {
	c.Helper()
	embedded := must.Value(devcluster.Connect(filepath.Dir(c.kubeconfig)))(c)
	account := harness.AsManager(c, c.admin)
	return harness.RunAsShipped(c, manager.Options{Config: account, Log: harness.Log(c),
		LeaderElection: true, LeaderNamespace: "olm", GlobalNamespace: "olm", CatalogPods: catalogsource.PodOptions{Settings: grpccatalog.Settings{RunAsUser: 1001}},
		CatalogAddress: "127.0.0.1:0", CatalogAdvertise: "192.0.2.7:50051",
		PackageServer: manager.PackageServer{Namespace: "olm", Route: func(ctx context.Context, local netip.AddrPort) (netip.AddrPort, func(), error) {
			return embedded.Expose(ctx, local)
		}}})
}

// make creates objects that stay.
func (c *cluster) make(objects ...client.Object) {
	c.Helper()
	for _, o := range objects {
		must.NoErrorf(c, c.Create(c.Context(), o), "create %T %s", o, client.ObjectKeyFromObject(o))
	}
}

// extensionRuns waits until a ClusterExtension is installed in a version and available.
func (c *cluster) extensionRuns(name, version string) *olmv1.ClusterExtension {
	c.Helper()
	ext := &olmv1.ClusterExtension{}
	harness.Await(c, c, client.ObjectKey{Name: name}, ext, "ClusterExtension "+name+" to have "+version+" installed", func() error {
		if ext.Status.Install == nil || ext.Status.Install.Bundle.Version != version ||
			!meta.IsStatusConditionTrue(ext.Status.Conditions, "Installed") || !meta.IsStatusConditionTrue(ext.Status.Conditions, "Available") {
			return fmt.Errorf("installed is %+v, conditions %s", ext.Status.Install, texts(ext.Status.Conditions))
		}
		return nil
	})
	return ext
}

func texts(conditions []metav1.Condition) string {
	var all []string
	for _, c := range conditions {
		all = append(all, fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(all, "; ")
}

// within joins errors of several checks.
func within(checks ...func() error) error {
	var all []error
	for _, check := range checks {
		all = append(all, check())
	}
	return errors.Join(all...)
}
