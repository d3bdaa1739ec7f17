package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"
)

// own is a cluster that no other test uses meanwhile, so that all that is written there is known.
type own struct {
	testing.TB
	client.Client
	cluster    *devcluster.Client
	config     *rest.Config
	kubeconfig string
	registry   string
}

// ownCluster starts a cluster with the project's APIs, without a manager, for a benchmark.
func ownCluster(t testing.TB) *own {
	t.Helper()
	o := must.Value(startCluster(t.Context(), filepath.Join(t.TempDir(), "c")))(t)
	t.Cleanup(func() {
		if err := o.cluster.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return o.of(t)
}

// of is the cluster with the project's APIs, for a test.
func (o *own) of(t testing.TB) *own {
	t.Helper()
	mine := *o
	mine.TB, mine.Client = t, harness.Client(t, o.config)
	return &mine
}

func startCluster(ctx context.Context, dir string) (*own, error) {
	cluster, err := devcluster.Detach(ctx, devcluster.Options{Name: "own", DataDir: dir, Throwaway: true, Nodes: 3, IdleTimeout: time.Minute,
		Executable: filepath.Join(program, "fairlead")})
	if err != nil {
		return nil, err
	}
	if _, err := cluster.Lease(context.Background()); err != nil {
		return nil, err
	}
	status, err := cluster.Status(ctx)
	if err != nil {
		return nil, err
	}
	o := &own{cluster: cluster, kubeconfig: status.Kubeconfig, registry: status.Registry}
	if o.config, err = clientcmd.BuildConfigFromFlags("", status.Kubeconfig); err != nil {
		return nil, err
	}
	o.config.QPS = -1
	scheme, err := kubeconfig.Scheme()
	if err != nil {
		return nil, err
	}
	o.Client, err = client.New(o.config, client.Options{Scheme: scheme})
	return o, err
}

// manage runs a manager in this process until the test ends. It serves packages too, by way of the cluster's tunnel.
func (o *own) manage(options manager.Options) {
	o.Helper()
	options.PackageServer.Route = o.cluster.Expose
	harness.Run(o.TB, options)
}

func (o *own) create(objects ...client.Object) {
	o.Helper()
	for _, object := range objects {
		must.NoErrorf(o, o.Create(o.Context(), object), "create %T %s", object, object.GetName())
	}
}

// namespace makes a namespace with an OperatorGroup for all namespaces.
func (o *own) namespace(name string) {
	o.Helper()
	o.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "all"}})
}

// catalogSource names a catalog of the global namespace; it is not polled when the interval is 0.
func catalogSource(name, ref string, interval time.Duration) *v1alpha1.CatalogSource {
	s := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: manager.DefaultGlobalNamespace, Name: name},
		Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}}
	if interval > 0 {
		s.Spec.UpdateStrategy = &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: interval}, RawInterval: interval.String()}}
	}
	return s
}

func subscription(namespace, pkg, channel, catalog string) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: pkg},
		Spec: &v1alpha1.SubscriptionSpec{CatalogSource: catalog, CatalogSourceNamespace: manager.DefaultGlobalNamespace, Package: pkg, Channel: channel}}
}

// publish pushes a catalog with some versions of some packages, each an operator with a Deployment, a permission and an API of its own,
// and returns its image.
func (o *own) publish(name string, packages, versions []string) string {
	o.Helper()
	var content bytes.Buffer
	write := func(v any) {
		must.NoError(o, json.NewEncoder(&content).Encode(v))
	}
	for _, pkg := range packages {
		var entries []map[string]any
		write(map[string]any{"schema": "olm.package", "name": pkg, "defaultChannel": "stable"})
		for i, version := range versions {
			entry := map[string]any{"name": pkg + ".v" + version}
			if i > 0 {
				entry["replaces"] = pkg + ".v" + versions[i-1]
			}
			entries = append(entries, entry)
			write(map[string]any{"schema": "olm.bundle", "package": pkg, "name": pkg + ".v" + version, "image": o.pushBundle(pkg, version), "properties": []any{
				map[string]any{"type": "olm.package", "value": map[string]any{"packageName": pkg, "version": version}},
				map[string]any{"type": "olm.gvk", "value": map[string]any{"group": pkg + ".example.com", "version": "v1", "kind": "Thing"}}}})
		}
		write(map[string]any{"schema": "olm.channel", "package": pkg, "name": "stable", "entries": entries})
	}
	return o.push("catalogs/"+name+":latest", map[string][]byte{"configs/catalog.json": content.Bytes()}, image.CatalogLabels())
}

func (o *own) push(name string, files map[string][]byte, labels map[string]string) string {
	o.Helper()
	tree := must.Value(image.Files(files))(o)
	ref := o.registry + "/" + name
	must.Value(image.Push(o.Context(), ref, tree, labels, image.PushOptions{}))(o)
	return ref
}

// pushBundle pushes a bundle and returns its image.
func (o *own) pushBundle(pkg, version string) string {
	o.Helper()
	return o.pushBundleAs("bundles/"+pkg+":v"+version, pkg+".v"+version, pkg, version)
}

// pushBundleAs pushes a bundle of which everything is named.
func (o *own) pushBundleAs(repository, name, pkg, version string) string {
	o.Helper()
	labels := image.BundleLabels(pkg, []string{"stable"}, "stable")
	annotations := must.Value(json.Marshal(map[string]any{"annotations": labels}))(o)
	group := pkg + ".example.com"
	csv := os.Expand(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"$NAME"},"spec":{
		"displayName":"$PKG","version":"$VERSION","installModes":[{"type":"AllNamespaces","supported":true}],
		"customresourcedefinitions":{"owned":[{"name":"things.$GROUP","version":"v1","kind":"Thing","displayName":"Thing"}]},
		"install":{"strategy":"deployment","spec":{
			"permissions":[{"serviceAccountName":"$PKG","rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}],
			"deployments":[{"name":"$PKG","spec":{"replicas":1,"selector":{"matchLabels":{"app":"$PKG"}},"template":{"metadata":{"labels":{"app":"$PKG"}},
				"spec":{"serviceAccountName":"$PKG","containers":[{"name":"operator","image":"registry.example.com/$PKG:$VERSION"}]}}}}]}}}}`,
		func(variable string) string {
			return map[string]string{"NAME": name, "PKG": pkg, "VERSION": version, "GROUP": group}[variable]
		})
	crd := fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.%[1]s"},"spec":{"group":%[1]q,"scope":"Namespaced",
		"names":{"plural":"things","singular":"thing","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`, group)
	return o.push(repository, map[string][]byte{"manifests/csv.json": []byte(csv), "manifests/crd.json": []byte(crd),
		"metadata/annotations.json": annotations}, labels)
}

// request is something that a manager asked of the API server.
type request struct{ method, path, body string }

func (r request) String() string { return strings.TrimSpace(r.method + " " + r.path + " " + r.body) }

// writes tells whether a request is to change something. Reviews are questions in the form of a write.
func (r request) writes() bool {
	return r.method != http.MethodGet && r.method != http.MethodHead && !strings.HasSuffix(r.path, "reviews")
}

// renews tells whether a request says that the leader is still there.
func (r request) renews() bool { return strings.Contains(r.path, "/leases/") }
