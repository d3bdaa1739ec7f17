package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/fakeapi"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// world is a cluster on a fake API server, with bundles that are whatever their names say.
type world struct {
	t          testing.TB
	client     client.Client   // of others
	server     *fakeapi.Server // of the manager
	controller *Controller
	clock      *clocktesting.FakeClock
	bundles    *bundles
	providers  []registryv1.CertificateProvider        // of the cluster
	serving    []registryv1.Serving                    // of every bundle
	extra      map[string][]*unstructured.Unstructured // objects of bundles, by their names
	renders    int
}

// bundles is a registry: every bundle is there but those that fail or take long.
type bundles struct {
	gets   int
	failed map[string]error
	slow   map[string]bool
	images map[string]*bundle.Bundle                             // that are asked for without a name
	judge  func(r bundleio.Request) (*image.Verification, error) // is asked about every bundle; nil where there is no policy
}

func (b *bundles) Get(_ context.Context, r bundleio.Request, _ time.Duration) bundleio.State {
	b.gets++
	if err := b.failed[r.Name]; err != nil {
		return bundleio.State{Err: err}
	}
	if b.slow[r.Name] {
		return bundleio.State{Slow: "1 of 9 MB"}
	}
	var verification *image.Verification
	if b.judge != nil {
		var err error
		if verification, err = b.judge(r); err != nil {
			return bundleio.State{Err: err}
		}
	}
	if r.Judge {
		return bundleio.State{Judged: true, Verification: verification}
	}
	if r.Name == "" {
		if b.images[r.Image] == nil {
			return bundleio.State{Err: errors.New("there is no image " + r.Image)}
		}
		return bundleio.State{Bundle: b.images[r.Image]}
	}
	return bundleio.State{Bundle: &bundle.Bundle{Name: r.Name}, Verification: verification}
}

var scheme = fakeapi.Scheme(olmv1.AddToScheme, operatorsv1.AddToScheme, v1alpha1.AddToScheme, v2.AddToScheme, corev1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme)

func newWorld(t testing.TB, objects ...client.Object) *world {
	t.Helper()
	kinds := meta.NewDefaultRESTMapper(nil)
	for kind, scope := range map[schema.GroupVersionKind]meta.RESTScope{corev1.SchemeGroupVersion.WithKind("ConfigMap"): meta.RESTScopeNamespace,
		v2.GroupVersion.WithKind(v2.OperatorConditionKind):                 meta.RESTScopeNamespace,
		v1alpha1.GroupVersion.WithKind(v1alpha1.ClusterServiceVersionKind): meta.RESTScopeNamespace, v1alpha1.GroupVersion.WithKind(v1alpha1.SubscriptionKind): meta.RESTScopeNamespace,
		rbacv1.SchemeGroupVersion.WithKind("ClusterRole"): meta.RESTScopeRoot, rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"): meta.RESTScopeRoot} {
		kinds.Add(kind, scope)
	}
	server := fakeapi.New(time.Unix(1_700_000_000, 0), fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(kinds).
		WithStatusSubresource(&olmv1.ClusterExtension{}, &olmv1.ClusterObjectSet{}, &v2.OperatorCondition{}))
	w := &world{t: t, client: server.Inner, server: server, clock: server.Clock, providers: []registryv1.CertificateProvider{registryv1.BuiltIn},
		bundles: &bundles{failed: map[string]error{}, slow: map[string]bool{}}, extra: map[string][]*unstructured.Unstructured{}}
	w.controller = newController(&environment{client: server, live: server, secrets: server, events: server.Events, render: w.render,
		kubernetes: func(context.Context) semver.Version { return semver.Version{} },
		providers:  func(context.Context) []registryv1.CertificateProvider { return w.providers },
		Options:    Options{Catalogs: catalogstore.NewSet(), Clock: w.clock, Bundles: w.bundles, SystemNamespace: "olm", Metrics: NewMetrics(), Notify: &Notifier{}}})
	w.controller.began = sync.OnceValue(w.clock.Now)
	w.controller.Notify.controller = w.controller
	for _, o := range append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}}) {
		w.add(o)
	}
	return w
}

// render makes a ConfigMap with the name of the bundle and the configuration, and what the test wants besides.
func (w *world) render(b *bundle.Bundle, o registryv1.Options) (*registryv1.Rendered, error) {
	w.renders++
	if strings.Contains(string(o.Config), "bad") {
		return nil, &registryv1.ConfigError{Problems: []string{`unknown field "bad"`}}
	}
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "what", "namespace": o.Namespace}, "data": map[string]any{"bundle": b.Name, "config": string(o.Config)}}}
	return &registryv1.Rendered{Objects: append([]*unstructured.Unstructured{object}, w.extra[b.Name]...), Serving: w.serving,
		Properties: []byte(`[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]`)}, nil
}

func (w *world) add(o client.Object) {
	w.t.Helper()
	o.SetUID(uidOf(o.GetName()))
	if err := w.client.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// pass reconciles once.
func (w *world) pass(name string) ctrl.Result {
	w.t.Helper()
	result, err := w.controller.Reconcile(w.t.Context(), requestFor(name))
	if err != nil {
		w.t.Fatalf("Reconcile: %v", err)
	}
	return result
}

// settle reconciles until nothing is written any more, with what the controller of ClusterObjectSets does in between.
func (w *world) settle(name string) {
	w.t.Helper()
	for range 10 {
		w.server.Taken()
		w.pass(name)
		if changed := w.rollOut(name); !changed && len(w.server.Writes()) == 0 {
			return
		}
	}
	w.t.Fatalf("it goes on and on: %v", w.server.Writes())
}

// rollOut does what the controller of ClusterObjectSets does: the newest revision is rolled out, the others are archived. It reports whether
// there was something to do.
func (w *world) rollOut(name string) (changed bool) {
	w.t.Helper()
	all := w.revisions(name)
	for i := range all {
		r := &all[i]
		if i < len(all)-1 {
			if revision.Active(r) {
				r.Spec.LifecycleState = olmv1.LifecycleStateArchived
				w.must(w.client.Update(w.t.Context(), r))
				changed = true
			}
			continue
		}
		if !meta.IsStatusConditionTrue(r.Status.Conditions, olmv1.TypeSucceeded) {
			w.says(r, done...)
			changed = true
		}
	}
	return changed
}

// says sets the conditions of a revision.
func (w *world) says(r *olmv1.ClusterObjectSet, conditions ...metav1.Condition) {
	w.t.Helper()
	before := r.DeepCopy()
	r.Status.Conditions = nil
	for _, c := range conditions {
		olmv1.SetCondition(&r.Status.Conditions, c, r.Generation, metav1.Unix(1, 0))
	}
	w.must(w.client.Status().Patch(w.t.Context(), r, client.MergeFrom(before)))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) revisions(name string) revision.History {
	w.t.Helper()
	ext := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{UID: uidOf(name)}}
	w.must(client.IgnoreNotFound(w.client.Get(w.t.Context(), client.ObjectKey{Name: name}, ext)))
	all, err := revision.List(w.t.Context(), w.client, name, ext.UID)
	w.must(err)
	return all
}

// newest is the newest revision.
func (w *world) newest(name string) *olmv1.ClusterObjectSet {
	w.t.Helper()
	all := w.revisions(name)
	if len(all) == 0 {
		w.t.Fatalf("there is no revision of %s: %s", name, w.condition(name, olmv1.TypeProgressing))
	}
	return &all[len(all)-1]
}

func (w *world) extension(name string) *olmv1.ClusterExtension {
	w.t.Helper()
	ext := &olmv1.ClusterExtension{}
	w.must(w.client.Get(w.t.Context(), client.ObjectKey{Name: name}, ext))
	return ext
}

// change changes an extension as a user would.
func (w *world) change(name string, change func(*olmv1.ClusterExtension)) {
	w.t.Helper()
	ext := w.extension(name)
	change(ext)
	ext.Generation++
	w.must(w.client.Update(w.t.Context(), ext))
}

func (w *world) annotate(name, key, value string) {
	w.t.Helper()
	ext := w.extension(name)
	if ext.Annotations == nil {
		ext.Annotations = map[string]string{}
	}
	if ext.Annotations[key] = value; value == "" {
		delete(ext.Annotations, key)
	}
	w.must(w.client.Update(w.t.Context(), ext))
}

// condition is "Status/Reason: first line" of a condition.
func (w *world) condition(name, kind string) string {
	w.t.Helper()
	c := meta.FindStatusCondition(w.extension(name).Status.Conditions, kind)
	if c == nil {
		return ""
	}
	line, _, _ := strings.Cut(c.Message, "\n")
	return fmt.Sprintf("%s/%s: %s", c.Status, c.Reason, line)
}

func (w *world) expect(name, kind, want string) {
	w.t.Helper()
	if got := w.condition(name, kind); got != want {
		w.t.Errorf("%s of %s is %q, want %q", kind, name, got, want)
	}
}

// message is the whole message of a condition.
func (w *world) message(name, kind string) string {
	w.t.Helper()
	c := meta.FindStatusCondition(w.extension(name).Status.Conditions, kind)
	if c == nil {
		return ""
	}
	return c.Message
}

// installed is the name of the installed bundle in the status.
func (w *world) installed(name string) string {
	if i := w.extension(name).Status.Install; i != nil {
		return i.Bundle.Name
	}
	return ""
}

// expectInstalled stops the test when an extension has another bundle installed.
func (w *world) expectInstalled(name, bundle string) {
	w.t.Helper()
	if got := w.installed(name); got != bundle {
		w.t.Fatalf("%q is installed: %s", got, w.condition(name, "Progressing"))
	}
}

// installedWorld has the extension my, of package a, with version 1.0.0 installed from the catalog cat.
func installedWorld(t *testing.T) *world {
	w := newWorld(t, want("my", "a", ""))
	w.serve("cat", pkg("a", "1.0.0"))
	w.settle("my")
	return w
}

// serve publishes a catalog and makes its object.
func (w *world) serve(name string, packages ...string) {
	w.t.Helper()
	object := &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{olmv1.MetadataNameKey: name}}}
	if err := w.client.Get(w.t.Context(), client.ObjectKey{Name: name}, object); err != nil {
		w.add(object)
	}
	text := strings.Join(packages, "")
	c, err := catalog.Load(w.t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(text)}}, catalog.LoadOptions{})
	w.must(err)
	x, err := catalog.NewIndex(c, fmt.Sprintf("sha256:%x", text))
	w.must(err)
	if len(x.Problems()) > 0 {
		w.t.Fatalf("the catalog has problems: %v", x.Problems())
	}
	w.controller.Catalogs.Publish(catalog.Ref{Name: name}, catalogstore.Entry{Index: x})
}

// unserve removes a catalog and its content.
func (w *world) unserve(name string) {
	w.t.Helper()
	w.must(w.client.Delete(w.t.Context(), &olmv1.ClusterCatalog{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	w.controller.Catalogs.Withdraw(catalog.Ref{Name: name})
}

// pkg is the text of a package with a linear channel. A version may be followed by =PACKAGE, which it then requires.
func pkg(name string, versions ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nschema: olm.package\nname: %s\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: %[1]s\nname: stable\nentries:\n", name)
	last := ""
	for _, v := range versions {
		v, _, _ := strings.Cut(v, "=")
		fmt.Fprintf(&b, "- name: %s.v%s\n", name, v)
		if last != "" {
			fmt.Fprintf(&b, "  replaces: %s\n", last)
		}
		last = name + ".v" + v
	}
	for _, v := range versions {
		v, needs, _ := strings.Cut(v, "=")
		fmt.Fprintf(&b, "---\nschema: olm.bundle\npackage: %s\nname: %[1]s.v%s\nimage: quay.io/%[1]s:v%[2]s\nproperties:\n- type: olm.package\n  value: {packageName: %[1]s, version: %[2]s}\n", name, v)
		if needs != "" {
			fmt.Fprintf(&b, "- type: olm.package.required\n  value: {packageName: %s, versionRange: '>=1.0.0'}\n", needs)
		}
	}
	return b.String()
}

// uidOf is that of an object of a name that others have made.
func uidOf(name string) types.UID { return types.UID("uid-" + name) }

// want is an extension for a package.
func want(name, pkg, version string) *olmv1.ClusterExtension {
	return &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1}, Spec: olmv1.ClusterExtensionSpec{Namespace: "ns",
		Source: olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: pkg, Version: version}}}}
}

// version sets the range of an extension.
func (w *world) version(name, v string) {
	w.t.Helper()
	w.change(name, func(e *olmv1.ClusterExtension) { e.Spec.Source.Catalog.Version = v })
}

// configure sets the configuration of an extension.
func (w *world) configure(name, config string) {
	w.t.Helper()
	w.change(name, func(e *olmv1.ClusterExtension) {
		e.Spec.Config = &olmv1.ClusterExtensionConfig{ConfigType: olmv1.ClusterExtensionConfigTypeInline, Inline: &apiextensionsv1.JSON{Raw: []byte(config)}}
	})
}

// has reports whether an Event was made since the last call, and forgets the others.
func (w *world) has(text string) bool {
	found := false
	for len(w.server.Events.Events) > 0 {
		found = strings.Contains(<-w.server.Events.Events, text) || found
	}
	return found
}

var errGone = errors.New("connection refused")

func names(all revision.History) []string {
	var out []string
	for i := range all {
		out = append(out, fmt.Sprintf("%s %s %s", all[i].Name, all[i].Annotations[olmv1.BundleVersionKey], all[i].Spec.LifecycleState))
	}
	return slices.Clip(out)
}
