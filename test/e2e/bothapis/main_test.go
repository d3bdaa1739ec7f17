package bothapis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { harness.Main(m) }

const pkg = "op"

// stableAfter is how long operators have to be available in these scenarios: users get ten seconds.
const stableAfter = 2 * time.Second

// shared is the manager of all scenarios. It gives InstallPlans up sooner than after a minute, so that what is refused can be followed by something else.
var shared = sync.OnceValues(func() (client.Client, error) {
	return harness.Start(manager.Options{InstallPlanRetryTimeout: 2 * time.Second, StableAfter: stableAfter})
})

var worlds atomic.Int64

// release is a version of the operator: its ClusterServiceVersion, and the objects beside it in the bundle.
type release struct {
	version string
	changes []fixture.Change
	objects []client.Object
}

// api is how people install a package by one of the two APIs, and where they look.
type api interface {
	// follow makes the package follow a catalog image, and installs it the first time.
	follow(image string)
	// runs is an error until a version is installed and works, or says what there is instead.
	runs(version string) error
	// keeps is an error where a version is not the one that people have while the rollout of the next one has failed.
	keeps(version string) error
	// told is all that people are told of it.
	told() string
	// remove uninstalls it.
	remove()
}

// world is a namespace with an operator by one API.
type world struct {
	harness.World
	api
	catalog bundleio.Publisher
	group   string // of the kinds of the operator
}

func newWorld(t *testing.T, by func(*world) api) *world {
	t.Helper()
	t.Parallel()
	w := &world{World: harness.NewWorld(t, shared)}
	if err := w.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "olm"}}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	w.group = fmt.Sprintf("g%d-%d.example.com", os.Getpid()%1000, worlds.Add(1))
	w.catalog = bundleio.Publisher{Registry: devcluster.Registry() + "/" + w.Namespace}
	w.api = by(w)
	t.Cleanup(w.remove)
	return w
}

// publish makes the catalog offer releases, each as the one after the one before it, and the package follow it.
func (w *world) publish(releases ...release) {
	w.Helper()
	tree := fstest.MapFS{}
	add := func(file string, value any) {
		tree[file] = &fstest.MapFile{Data: must.Value(json.Marshal(value))(w)}
	}
	for _, r := range releases {
		csv := fixture.Operator("", pkg+".v"+r.version, append([]fixture.Change{fixture.Modes("OwnNamespace", "AllNamespaces")}, r.changes...)...)
		csv.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind))
		must.NoError(w, csv.Spec.Version.UnmarshalJSON([]byte(`"`+r.version+`"`)))
		dir := pkg + "/" + r.version
		add(dir+"/manifests/csv.yaml", csv)
		for i, o := range r.objects {
			add(fmt.Sprintf("%s/manifests/object%d.yaml", dir, i), o)
		}
		add(dir+"/metadata/annotations.yaml", map[string]any{"annotations": map[string]string{
			"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1", "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
			"operators.operatorframework.io.bundle.metadata.v1": "metadata/", "operators.operatorframework.io.bundle.package.v1": pkg,
			"operators.operatorframework.io.bundle.channels.v1": "stable", "operators.operatorframework.io.bundle.channel.default.v1": "stable"}})
	}
	published := must.Value(w.catalog.Push(w.Context(), must.Value(bundleio.ReadSource(tree))(w)))(w)
	digest := must.Value(w.catalog.Catalog(w.Context(), must.Value(bundleio.Linear(published))(w), "catalog:latest"))(w)
	w.follow(w.catalog.Registry + "/catalog@" + digest)
}

// reaches waits until a version is installed and works.
func (w *world) reaches(version string) {
	w.Helper()
	w.Eventually(version+" to be installed and to work", func() error {
		if err := w.runs(version); err != nil {
			return fmt.Errorf("%w: %s", err, w.told())
		}
		return nil
	})
}

// says waits until people are told something.
func (w *world) says(parts ...string) {
	w.Helper()
	w.Eventually("people to be told "+strings.Join(parts, " ... "), func() error {
		told := w.told()
		if slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(told, part) }) {
			return fmt.Errorf("they are told: %s", told)
		}
		return nil
	})
}

// deployment is that of the operator; nil where there is none.
func (w *world) deployment() *appsv1.Deployment {
	d := &appsv1.Deployment{}
	if !w.Read("manager", d) {
		return nil
	}
	return d
}

// v0 is a Subscription.
type v0 struct{ *world }

func byV0(w *world) api {
	harness.Create(w, w, &operatorsv1.OperatorGroup{ObjectMeta: w.Named("group"), Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{w.Namespace}}})
	return v0{w}
}

func (a v0) follow(image string) {
	a.Helper()
	source := &v1alpha1.CatalogSource{ObjectMeta: a.Named("catalog"), Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: image}}
	if a.Read("catalog", &v1alpha1.CatalogSource{}) {
		harness.Edit(a.T, a, a.Namespace, "catalog", &v1alpha1.CatalogSource{}, func(s *v1alpha1.CatalogSource) { s.Spec.Image = image })
		return
	}
	harness.Create(a, a, source, &v1alpha1.Subscription{ObjectMeta: a.Named("sub"), Spec: &v1alpha1.SubscriptionSpec{Package: pkg, Channel: "stable",
		CatalogSource: "catalog", CatalogSourceNamespace: a.Namespace}})
}

func (a v0) runs(version string) error {
	sub, csv := &v1alpha1.Subscription{}, &v1alpha1.ClusterServiceVersion{}
	a.Read("sub", sub)
	a.Read(pkg+".v"+version, csv)
	if sub.Status.InstalledCSV != pkg+".v"+version || csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
		return fmt.Errorf("%q is installed, and %s is %s", sub.Status.InstalledCSV, version, csv.Status.Phase)
	}
	return nil
}

func (a v0) told() string {
	var out []string
	sub := &v1alpha1.Subscription{}
	a.Read("sub", sub)
	for _, c := range sub.Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s: %s", c.Type, c.Status, c.Message))
	}
	var plans v1alpha1.InstallPlanList
	must.NoError(a, a.List(a.Context(), &plans, client.InNamespace(a.Namespace)))
	for _, p := range plans.Items {
		out = append(out, "plan "+string(p.Status.Phase)+": "+p.Status.Message)
		for _, c := range p.Status.Conditions {
			out = append(out, fmt.Sprintf("%s=%s: %s", c.Type, c.Status, c.Message))
		}
	}
	var csvs v1alpha1.ClusterServiceVersionList
	must.NoError(a, a.List(a.Context(), &csvs, client.InNamespace(a.Namespace)))
	for _, c := range csvs.Items {
		out = append(out, c.Name+" "+string(c.Status.Phase)+": "+c.Status.Message)
	}
	return strings.Join(out, "\n")
}

func (a v0) remove() {
	in := client.InNamespace(a.Namespace)
	must.NoError(a, errors.Join(a.DeleteAllOf(context.Background(), &v1alpha1.Subscription{}, in), a.DeleteAllOf(context.Background(), &v1alpha1.ClusterServiceVersion{}, in)))
}

// v1 is a ClusterExtension.
type v1 struct{ *world }

func byV1(w *world) api { return v1{w} }

func (a v1) follow(image string) {
	a.Helper()
	source := olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: image}}
	named := metav1.ObjectMeta{Name: a.Namespace}
	if harness.Read(a, a, "", a.Namespace, &olmv1.ClusterCatalog{}) {
		harness.Edit(a.T, a, "", a.Namespace, &olmv1.ClusterCatalog{}, func(c *olmv1.ClusterCatalog) { c.Spec.Source = source })
		return
	}
	catalog := &olmv1.ClusterCatalog{ObjectMeta: named, Spec: olmv1.ClusterCatalogSpec{Source: source}}
	harness.Create(a, a, catalog, &olmv1.ClusterExtension{ObjectMeta: named, Spec: olmv1.ClusterExtensionSpec{Namespace: a.Namespace,
		Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: pkg,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{olmv1.MetadataNameKey: a.Namespace}}}}}})
	a.RemoveLater(catalog)
}

func (a v1) extension() *olmv1.ClusterExtension {
	ext := &olmv1.ClusterExtension{}
	harness.Read(a, a, "", a.Namespace, ext)
	return ext
}

func (a v1) runs(version string) error {
	ext := a.extension()
	if ext.Status.Install == nil || ext.Status.Install.Bundle.Version != version || !meta.IsStatusConditionTrue(ext.Status.Conditions, olmv1.TypeAvailable) {
		return fmt.Errorf("%v is installed", ext.Status.Install)
	}
	return nil
}

func (a v1) told() string {
	var out []string
	for _, c := range a.extension().Status.Conditions {
		out = append(out, fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(out, "\n")
}

func (a v1) remove() {
	must.NoError(a, client.IgnoreNotFound(a.Delete(context.Background(), &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: a.Namespace}})))
}
