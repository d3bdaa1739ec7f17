package realnode

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/test/fixture"
	"fairlead.dev/fairlead/test/must"
)

const (
	catalogName = "real"
	// stable is the channel of the first version of each package, and next that of all.
	stable, next = "stable", "next"
)

// sample is an operator in a catalog.
type sample struct {
	pkg, version string
	change       []fixture.Change
	objects      []runtime.Object // of its bundle, besides the ClusterServiceVersion
}

func (s sample) name() string { return s.pkg + ".v" + s.version }

// csv is the ClusterServiceVersion of a sample: one Deployment that is named like its package, whose pods conform to PodSecurity restricted and run the
// program of the tests.
func (w *world) csv(s sample) *v1alpha1.ClusterServiceVersion {
	csv := fixture.Operator("", s.name(), append([]fixture.Change{fixture.Deployments(s.pkg), version(s.version), w.runs("serve")}, s.change...)...)
	csv.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.ClusterServiceVersionKind}
	return csv
}

func version(text string) fixture.Change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		if err := yaml.Unmarshal([]byte(text), &csv.Spec.Version); err != nil {
			panic(err) // it is in a test
		}
	}
}

// runs is what the pods of an operator run.
func (w *world) runs(args ...string) fixture.Change {
	return pods(func(pod *corev1.PodSpec) { *pod = w.container(nil, args...) })
}

// pods changes the pods of an operator.
func pods(change func(*corev1.PodSpec)) fixture.Change {
	return func(csv *v1alpha1.ClusterServiceVersion) {
		for i := range csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
			change(&csv.Spec.InstallStrategy.StrategySpec.DeploymentSpecs[i].Spec.Template.Spec)
		}
	}
}

// first changes the one container of each pod of an operator.
func first(change func(*corev1.Container)) fixture.Change {
	return pods(func(pod *corev1.PodSpec) { change(&pod.Containers[0]) })
}

// serveCatalog pushes all samples, and offers them to both APIs.
func (w *world) serveCatalog() {
	w.Helper()
	files := fstest.MapFS{}
	for _, s := range w.samples() {
		dir := path.Join(s.pkg, s.version)
		for i, o := range append([]runtime.Object{w.csv(s)}, s.objects...) {
			files[path.Join(dir, "manifests", fmt.Sprintf("%d.yaml", i))] = &fstest.MapFile{Data: must.Value(yaml.Marshal(o))(w)}
		}
		files[path.Join(dir, "metadata", "annotations.yaml")] = &fstest.MapFile{Data: fmt.Appendf(nil, "annotations:\n"+
			"  operators.operatorframework.io.bundle.mediatype.v1: registry+v1\n  operators.operatorframework.io.bundle.manifests.v1: manifests/\n"+
			"  operators.operatorframework.io.bundle.metadata.v1: metadata/\n  operators.operatorframework.io.bundle.package.v1: %s\n"+
			"  operators.operatorframework.io.bundle.channels.v1: %s\n  operators.operatorframework.io.bundle.channel.default.v1: %[2]s\n", s.pkg, stable)}
	}
	w.offer(catalogName, files)
}

// offer pushes the bundles of a tree, and makes a catalog of them for both APIs.
func (w *world) offer(name string, files fs.FS) {
	w.Helper()
	p := bundleio.Publisher{Registry: w.status.Registry}
	published := must.Value(p.Bundles(w.Context(), files))(w)
	for i := range published {
		published[i].Image = strings.Replace(published[i].Image, w.status.Registry, w.status.PodRegistry, 1)
	}
	all := must.Value(bundleio.Linear(published))(w)
	for _, c := range all.Channels {
		all.Channels = append(all.Channels, catalog.Channel{Schema: c.Schema, Name: next, Package: c.Package, Entries: c.Entries})
	}
	for i := range all.Channels {
		if c := &all.Channels[i]; c.Name == stable {
			c.Entries = c.Entries[:1]
		}
	}
	ref := w.status.PodRegistry + "/" + name + "@" + must.Value(p.Catalog(w.Context(), all, name+":latest"))(w)
	w.make(
		&v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: name}, Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}},
		&olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: olmv1.ClusterCatalogSpec{
			Source: olmv1.CatalogSource{Type: olmv1.CatalogSourceTypeImage, Image: &olmv1.ImageSource{Ref: ref}}}},
	)
}

// subscribe installs a package with the v0 API, in a namespace of its own with an OperatorGroup for it.
func (w *world) subscribe(namespace *corev1.Namespace, pkg string, own bool) {
	w.Helper()
	w.subscribeTo(catalogName, namespace, pkg, own)
}

// subscribeTo does so from another catalog.
func (w *world) subscribeTo(catalog string, namespace *corev1.Namespace, pkg string, own bool) {
	w.Helper()
	group := &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: "group"}}
	if own {
		group.Spec.TargetNamespaces = []string{namespace.Name}
	}
	w.make(namespace, group, &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: namespace.Name, Name: pkg},
		Spec: &v1alpha1.SubscriptionSpec{CatalogSource: catalog, CatalogSourceNamespace: "olm", Package: pkg, Channel: stable, InstallPlanApproval: v1alpha1.ApprovalAutomatic}})
}

// extend installs a package with the v1 API, in a namespace of its own.
func (w *world) extend(namespace *corev1.Namespace, pkg string) {
	w.Helper()
	w.make(namespace, &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: pkg}, Spec: olmv1.ClusterExtensionSpec{Namespace: namespace.Name,
		Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: pkg, Channels: []string{stable},
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{olmv1.MetadataNameKey: catalogName}}}}}})
}
