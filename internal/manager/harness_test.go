package manager

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMain(m *testing.M) { devcluster.MainAlone(m, func() { _ = os.RemoveAll(storeDir) }) }

// patience is how long a test waits for something that takes well under a second on an idle machine.
const patience = 60 * time.Second

// running is the manager that all tests of this package share: it works on the whole cluster, each test in its own namespace.
var running = sync.OnceValue(func() error {
	ctx := context.Background()
	if err := InstallCRDs(ctx, devcluster.Config()); err != nil {
		return err
	}
	var err error
	if storeDir, err = os.MkdirTemp("", "fairlead-manager-test-"); err != nil {
		return err
	}
	files, err := metricsFiles(storeDir)
	if err != nil {
		return err
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{Config: devcluster.Config(), StoreDir: storeDir, Log: logr.Discard(), Ready: func() { close(ready) },
			CatalogAddress: listening, CatalogAdvertise: advertised, MetricsAddress: telling, MetricsTLS: files})
	}()
	select {
	case <-ready:
		return nil
	case err := <-ended:
		return err
	}
})

// storeDir outlives single tests, like the manager.
var storeDir string

// world is a namespace of the cluster, and the registry.
type world struct {
	t         *testing.T
	client    client.Client
	namespace string
}

// newWorld is for a test that runs at the same time as others.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return newWorldAlone(t)
}

// newWorldAlone is for a test that runs alone, because it changes what others see, such as global catalogs, or bounds how long something takes.
func newWorldAlone(t *testing.T) *world {
	t.Helper()
	must.NoErrorf(t, running(), "start the manager")
	scheme := must.Value(kubeconfig.Scheme())(t)
	c := must.Value(client.New(devcluster.Config(), client.Options{Scheme: scheme}))(t)
	return &world{t: t, client: c, namespace: devcluster.Namespace(t)}
}

func (w *world) create(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.client.Create(w.t.Context(), o); err != nil {
			w.t.Fatalf("create %T %s: %v", o, o.GetName(), err)
		}
	}
}

// eventually waits until the check finds nothing to complain about.
func (w *world) eventually(what string, check func() error) {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not after %s: %v\n%s", what, patience, err, w.tree())
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (w *world) tree() string {
	report, err := ops.InspectNamespace(context.Background(), w.client, w.namespace)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	if err := report.Write(&b); err != nil {
		return err.Error()
	}
	return b.String()
}

// shows waits until the status tree, which is what a user looks at, says something.
func (w *world) shows(pattern string) {
	w.t.Helper()
	compiled := regexp.MustCompile(pattern)
	w.eventually("the status tree to show "+pattern, func() error {
		if compiled.MatchString(w.tree()) {
			return nil
		}
		return fmt.Errorf("it does not")
	})
}

// succeeds waits until a ClusterServiceVersion runs.
func (w *world) succeeds(name string) {
	w.t.Helper()
	w.eventually(name+" to succeed", func() error {
		csv, err := w.csv(name)
		if err != nil {
			return err
		}
		if csv.Status.Phase != v1alpha1.CSVPhaseSucceeded {
			return fmt.Errorf("it is %s: %s", csv.Status.Phase, csv.Status.Message)
		}
		return nil
	})
}

// csv returns an operator of the namespace. Copies do not count: operators of tests that watch all namespaces are shown here too, and many
// have the same name.
func (w *world) csv(name string) (*v1alpha1.ClusterServiceVersion, error) {
	var csv v1alpha1.ClusterServiceVersion
	err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, &csv)
	if err == nil && csv.IsCopied() {
		err = apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "clusterserviceversions"}, name)
	}
	return &csv, err
}

func (w *world) subscription(name string) *v1alpha1.Subscription {
	w.t.Helper()
	var sub v1alpha1.Subscription
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, &sub); err != nil {
		w.t.Fatal(err)
	}
	return &sub
}

// ready waits until the namespace has nothing left to do.
func (w *world) ready() {
	w.t.Helper()
	w.eventually("the namespace to be done", func() error {
		report, err := ops.InspectNamespace(w.t.Context(), w.client, w.namespace)
		if err == nil && !report.Done() {
			err = fmt.Errorf("it is not")
		}
		return err
	})
}

func (w *world) allNamespaces() *operatorsv1.OperatorGroup { return w.group("all") }

func (w *world) group(name string, targets ...string) *operatorsv1.OperatorGroup {
	return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name},
		Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: targets}}
}

func (w *world) catalogSource(ref string) *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "catalog"},
		Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref,
			UpdateStrategy: &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: time.Second}, RawInterval: "1s"}}},
	}
}

func (w *world) subscribe(pkg string) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: pkg},
		Spec:       &v1alpha1.SubscriptionSpec{CatalogSource: "catalog", CatalogSourceNamespace: w.namespace, Package: pkg, Channel: "stable"},
	}
}

// update changes an object, again when somebody else changed it in between.
func update[T client.Object](w *world, object T, change func(T)) {
	w.t.Helper()
	w.eventually("update "+object.GetName(), func() error {
		if err := w.client.Get(w.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change(object)
		return w.client.Update(w.t.Context(), object)
	})
}

// operator is a bundle to publish.
type operator struct {
	pkg, version string
	kind         string // of the API that it owns; none when empty
	requires     string // kind of the API that it needs
	mode         string // the only install mode that it supports; AllNamespaces when empty
	files        map[string]string
}

func (o operator) name() string { return o.pkg + ".v" + o.version }

// group is the API group of the test, so that tests do not share CustomResourceDefinitions.
func (w *world) apiGroup() string { return w.namespace + ".example.com" }

func plural(kind string) string { return strings.ToLower(kind) + "s" }

// bundle pushes the bundle of an operator and returns its image.
func (w *world) bundle(o operator) string {
	w.t.Helper()
	if o.mode == "" {
		o.mode = "AllNamespaces"
	}
	files := map[string][]byte{
		"manifests/csv.json":        w.manifest(o),
		"metadata/annotations.json": []byte(fmt.Sprintf(`{"annotations":{"operators.operatorframework.io.bundle.package.v1":%q,"operators.operatorframework.io.bundle.channels.v1":"stable","operators.operatorframework.io.bundle.mediatype.v1":"registry+v1","operators.operatorframework.io.bundle.manifests.v1":"manifests/","operators.operatorframework.io.bundle.metadata.v1":"metadata/"}}`, o.pkg)),
	}
	if o.kind != "" {
		files["manifests/crd.json"] = w.crd(o.kind)
	}
	for name, content := range o.files {
		files[name] = []byte(content)
	}
	return w.push(fmt.Sprintf("%s/%s-bundle:v%s", w.namespace, o.pkg, o.version), files, image.BundleLabels(o.pkg, []string{"stable"}, "stable"))
}

func (w *world) push(name string, files map[string][]byte, labels map[string]string) string {
	w.t.Helper()
	tree, err := image.Files(files)
	if err != nil {
		w.t.Fatal(err)
	}
	ref := devcluster.Registry() + "/" + name
	if _, err := image.Push(w.t.Context(), ref, tree, labels, image.PushOptions{}); err != nil {
		w.t.Fatal(err)
	}
	return ref
}

func (w *world) manifest(o operator) []byte {
	w.t.Helper()
	crds := map[string]any{}
	if o.kind != "" {
		crds["owned"] = []any{w.crdDescription(o.kind)}
	}
	if o.requires != "" {
		crds["required"] = []any{w.crdDescription(o.requires)}
	}
	csv := map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
		"metadata": map[string]any{"name": o.name()},
		"spec": map[string]any{
			"displayName": o.pkg, "version": o.version,
			"customresourcedefinitions": crds,
			"installModes":              []any{map[string]any{"type": o.mode, "supported": true}},
			"install": map[string]any{"strategy": "deployment", "spec": map[string]any{
				"deployments": []any{map[string]any{"name": o.pkg, "spec": map[string]any{
					"replicas": 1, "selector": map[string]any{"matchLabels": map[string]any{"app": o.pkg}},
					"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": o.pkg}},
						"spec": map[string]any{"serviceAccountName": o.pkg,
							"containers": []any{map[string]any{"name": "operator", "image": "registry.example.com/" + o.pkg + ":" + o.version}}}}}}},
				"permissions": []any{map[string]any{"serviceAccountName": o.pkg,
					"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{"get"}}}}},
			}},
		},
	}
	data, err := json.Marshal(csv)
	if err != nil {
		w.t.Fatal(err)
	}
	return data
}

func (w *world) crdDescription(kind string) map[string]any {
	return map[string]any{"name": plural(kind) + "." + w.apiGroup(), "version": "v1", "kind": kind, "displayName": kind}
}

func (w *world) crd(kind string) []byte {
	return fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]s.%[2]s"},
		"spec":{"group":%[2]q,"scope":"Namespaced","names":{"plural":%[1]q,"singular":%[3]q,"kind":%[4]q},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`,
		plural(kind), w.apiGroup(), strings.ToLower(kind), kind)
}

// catalog publishes a catalog with a linear channel for each package, and returns its image.
func (w *world) catalog(operators ...operator) string {
	w.t.Helper()
	var b bytes.Buffer
	entries := map[string][]string{}
	for _, o := range operators {
		if entries[o.pkg] == nil {
			fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"stable"}`, o.pkg)
		}
		entry := fmt.Sprintf(`{"name":%q}`, o.name())
		if n := len(entries[o.pkg]); n > 0 {
			var before struct{ Name string }
			if err := json.Unmarshal([]byte(entries[o.pkg][n-1]), &before); err != nil {
				w.t.Fatal(err)
			}
			entry = fmt.Sprintf(`{"name":%q,"replaces":%q}`, o.name(), before.Name)
		}
		entries[o.pkg] = append(entries[o.pkg], entry)
		properties := []string{fmt.Sprintf(`{"type":"olm.package","value":{"packageName":%q,"version":%q}}`, o.pkg, o.version)}
		if o.kind != "" {
			properties = append(properties, fmt.Sprintf(`{"type":"olm.gvk","value":{"group":%q,"version":"v1","kind":%q}}`, w.apiGroup(), o.kind))
		}
		if o.requires != "" {
			properties = append(properties, fmt.Sprintf(`{"type":"olm.gvk.required","value":{"group":%q,"version":"v1","kind":%q}}`, w.apiGroup(), o.requires))
		}
		fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":%q,"properties":[%s]}`, o.pkg, o.name(), w.bundle(o), strings.Join(properties, ","))
	}
	for pkg, list := range entries {
		fmt.Fprintf(&b, `{"schema":"olm.channel","package":%q,"name":"stable","entries":[%s]}`, pkg, strings.Join(list, ","))
	}
	return w.catalogImage(b.String())
}

// catalogImage publishes content as the catalog of the test, always under the same name.
func (w *world) catalogImage(content string) string {
	w.t.Helper()
	return w.push(w.namespace+"/catalog:latest", map[string][]byte{"configs/catalog.json": []byte(content)}, image.CatalogLabels())
}
