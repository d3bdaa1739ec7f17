package attack

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/internal/content/grpccatalog"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	config     = "../../config" // the shipped manifests
	olm        = "olm"          // the namespace of the manager
	ownAddress = "192.0.2.7:50051"
)

// world is a cluster with the shipped manifests, seen by its administrator.
type world struct {
	t testing.TB
	client.Client
	admin      *rest.Config
	kubeconfig string
	registry   string
}

// shipped applies the shipped manifests, once: a test may take some of them away for a while.
var shipped sync.Once

// newWorld returns the cluster that the tests of this package share, with the shipped manifests applied, for a test that runs managers of its own:
// such tests run one after the other, each in namespaces of its own.
func newWorld(t testing.TB) *world {
	t.Helper()
	kubeconfig := devcluster.Kubeconfig()
	admin := must.Value(clientcmd.BuildConfigFromFlags("", kubeconfig))(t)
	admin.QPS = -1
	w := &world{t: t, Client: harness.ClientOf(t, admin), admin: admin, kubeconfig: kubeconfig, registry: devcluster.Registry()}
	shipped.Do(func() {
		must.NoError(t, manager.InstallCRDs(t.Context(), admin))
		harness.Apply(t.Context(), t, w, harness.Kustomized(t, config))
	})
	return w
}

// sharedWorld is newWorld for a test that runs at the same time as others, with the manager that they share.
func sharedWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := newWorld(t)
	harness.SharedAsShipped(t, w.admin, w.options())
	return w
}

// run runs the manager with the service account of the manifests until stop is called or the test ends. A request that is forbidden to the
// manager fails the test. change, when set, changes the options.
func (w *world) run(change func(*manager.Options)) (stop func()) {
	w.t.Helper()
	o := w.options()
	o.Config, o.Log = harness.AsManager(w.t, w.admin), harness.Log(w.t)
	if change != nil {
		change(&o)
	}
	return harness.RunAsShipped(w.t, o)
}

// options are those of the manifests, as far as they go in a test.
func (w *world) options() manager.Options {
	w.t.Helper()
	embedded := must.Value(devcluster.Connect(filepath.Dir(w.kubeconfig)))(w.t)
	route := func(ctx context.Context, local netip.AddrPort) (netip.AddrPort, func(), error) {
		return embedded.Expose(ctx, local)
	}
	return manager.Options{LeaderElection: true, LeaderNamespace: olm, GlobalNamespace: olm,
		CatalogPods:    catalogsource.PodOptions{Settings: grpccatalog.Settings{RunAsUser: 1001}},
		CatalogAddress: "127.0.0.1:0", CatalogAdvertise: ownAddress, PackageServer: manager.PackageServer{Namespace: olm, Route: route}}
}

// namespace makes a namespace, which is removed with its content when the test ends.
func (w *world) namespace(name string) string {
	w.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	harness.Create(w.t, w, ns)
	w.t.Cleanup(func() { _ = w.Delete(context.Background(), ns) })
	return name
}

// as returns the configuration of the named user, who has no rights of their own.
func (w *world) as(user string, groups ...string) *rest.Config {
	c := rest.CopyConfig(w.admin)
	c.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append([]string{"system:authenticated"}, groups...)}
	return c
}

// account returns the user name of a service account.
func account(namespace, name string) string { return "system:serviceaccount:" + namespace + ":" + name }

// bind gives a user a role of the cluster in one namespace: "edit" is what a tenant usually has there. The role is empty for "edit".
func (w *world) bind(namespace, user, role string) {
	w.t.Helper()
	role = cmp.Or(role, "edit")
	harness.Create(w.t, w, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: role + "-"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	})
}

// grant gives a service account rights in the whole cluster until the test ends.
func (w *world) grant(role, namespace, account string, rules ...rbacv1.PolicyRule) {
	w.t.Helper()
	granted := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: role}, Rules: rules}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: granted.ObjectMeta, Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}}
	harness.Create(w.t, w, granted, binding)
	w.t.Cleanup(func() { _ = w.Delete(context.Background(), granted); _ = w.Delete(context.Background(), binding) })
}

// group makes an OperatorGroup that targets its own namespace and, when account is set, confines what is installed in it to that account.
func (w *world) group(namespace, account string) *operatorsv1.OperatorGroup {
	w.t.Helper()
	g := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "group"},
		Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{namespace}, ServiceAccountName: account}}
	if account != "" {
		harness.Create(w.t, w, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: account}})
	}
	harness.Create(w.t, w, g)
	return g
}

// selected waits until the OperatorGroup of a namespace has these targets, "" for all: from then on the manager finds it for what is created there.
func (w *world) selected(namespace string, targets ...string) {
	w.t.Helper()
	g := &operatorsv1.OperatorGroup{}
	must.Eventually(w.t, "the OperatorGroup of "+namespace+" to select its targets", func() error {
		if !harness.Read(w.t, w, namespace, "group", g) || !slices.Equal(g.Status.Namespaces, targets) || (g.Spec.ServiceAccountName == "") != (g.Status.ServiceAccountRef == nil) {
			return fmt.Errorf("its status is %+v", g.Status)
		}
		return nil
	})
}
