package subscription

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

const ns = "ns"

// world is a namespace on a fake API server, with catalogs whose bundles are inline, so that nothing is pulled.
type world struct {
	*fakeapi.Server
	t          testing.TB
	client     client.Client // of others
	controller *Controller
	kubernetes semver.Version
	tamper     func(*group) // changes the decision, where a test asks for that
}

// blobs is a content store in memory.
type blobs struct{ sync.Map }

func (b *blobs) Put(_ context.Context, data []byte) (string, error) {
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(data))
	b.Store(digest, data)
	return digest, nil
}

func (b *blobs) Get(_ context.Context, digest string) ([]byte, error) {
	data, _ := b.Load(digest)
	return data.([]byte), nil
}

func newWorld(t testing.TB, objects ...client.Object) *world {
	t.Helper()
	for i, o := range objects {
		o.SetUID(types.UID(fmt.Sprintf("object-%d", i)))
	}
	server := fakeapi.New(time.Unix(1_700_000_000, 0), fake.NewClientBuilder().WithScheme(fakeapi.Scheme(v1alpha1.AddToScheme, operatorsv1.AddToScheme, corev1.AddToScheme)).
		WithObjects(objects...).WithStatusSubresource(&v1alpha1.Subscription{}, &v1alpha1.InstallPlan{}, &v1alpha1.CatalogSource{}, &v1alpha1.ClusterServiceVersion{}))
	w := &world{Server: server, t: t, client: server.Inner}
	w.controller = &Controller{judgements: &judgements{}, written: &reconcile.StatusMemory[v1alpha1.SubscriptionStatus]{}, client: w.Server, events: w.Events, live: w.Server, kubernetes: func(context.Context) semver.Version { return w.kubernetes }, Options: Options{
		Catalogs: catalogstore.NewSet(), Clock: w.Clock, Manifests: bundleio.Manifests{Blobs: &blobs{}}, GlobalNamespace: "olm", Metrics: metrics.NewSubscriptions(),
	}}
	w.controller.Unpacker = bundleio.NewUnpacker(nil, realTime{w.Clock}, func() {})
	return w
}

// realTime lets waits really wait, while the time of day is that of the test.
type realTime struct{ *clocktesting.FakeClock }

func (realTime) After(d time.Duration) <-chan time.Time { return time.After(d) }

var request = ctrl.Request{NamespacedName: types.NamespacedName{Namespace: ns, Name: "subscriptions"}}

// reconcile works on the namespace once.
func (w *world) reconcile() error {
	_, err := w.controller.Reconcile(w.t.Context(), request)
	return err
}

func (w *world) mustReconcile() {
	w.t.Helper()
	must.NoError(w.t, w.reconcile())
}

func (w *world) subscription(name string) *v1alpha1.Subscription {
	w.t.Helper()
	var sub v1alpha1.Subscription
	must.NoError(w.t, w.client.Get(w.t.Context(), client.ObjectKey{Namespace: ns, Name: name}, &sub))
	return &sub
}

func (w *world) plans() []v1alpha1.InstallPlan {
	w.t.Helper()
	var list v1alpha1.InstallPlanList
	must.NoError(w.t, w.client.List(w.t.Context(), &list, client.InNamespace(ns)))
	return list.Items
}

func (w *world) onlyPlan() *v1alpha1.InstallPlan {
	w.t.Helper()
	plans := w.plans()
	if len(plans) != 1 {
		w.t.Fatalf("there are %d InstallPlans, want 1", len(plans))
	}
	return &plans[0]
}

// carryOut does what the other controllers do with a plan: its ClusterServiceVersions exist and run, and it is complete. Those that they
// replace are gone, unless they are kept.
func (w *world) carryOut(p *v1alpha1.InstallPlan, keep ...bool) {
	w.t.Helper()
	for _, lookup := range p.Status.BundleLookups {
		if lookup.Replaces != "" && !slices.Contains(keep, true) {
			w.removeCSV(lookup.Replaces)
		}
		csv := running(lookup.Identifier, lookup.Properties)
		csv.Spec.Replaces = lookup.Replaces
		w.add(csv)
	}
	for _, s := range p.Status.Plan {
		if s.Resource.Kind == v1alpha1.SubscriptionKind {
			var sub v1alpha1.Subscription
			must.NoError(w.t, json.Unmarshal([]byte(s.Resource.Manifest), &sub))
			w.add(&sub)
		}
	}
	w.setPhase(p, v1alpha1.InstallPlanPhaseComplete)
}

func (w *world) setPhase(p *v1alpha1.InstallPlan, phase v1alpha1.InstallPlanPhase) {
	w.t.Helper()
	p.Status.Phase = phase
	must.NoError(w.t, w.client.Status().Update(w.t.Context(), p))
}

// fail does what the InstallPlan controller does with a plan that cannot be carried out.
func (w *world) fail(p *v1alpha1.InstallPlan) {
	w.t.Helper()
	p.Status.SetCondition(v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanInstalled, v1alpha1.InstallPlanReasonComponentFailed, "refused"), metav1.Time{Time: w.Clock.Now()})
	w.setPhase(p, v1alpha1.InstallPlanPhaseFailed)
}

// newestPlan is the plan with the highest generation.
func (w *world) newestPlan() *v1alpha1.InstallPlan {
	w.t.Helper()
	plans := w.plans()
	if len(plans) == 0 {
		w.t.Fatal("there is no InstallPlan")
	}
	newest := slices.MaxFunc(plans, func(a, b v1alpha1.InstallPlan) int { return cmp.Compare(a.Spec.Generation, b.Spec.Generation) })
	return &newest
}

func (w *world) removeCSV(name string) {
	w.t.Helper()
	w.remove(&v1alpha1.ClusterServiceVersion{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}})
}

// change changes a Subscription as a user would.
func (w *world) change(name string, change func(*v1alpha1.Subscription)) {
	w.t.Helper()
	sub := w.subscription(name)
	change(sub)
	sub.Generation++
	must.NoError(w.t, w.client.Update(w.t.Context(), sub))
}

func (w *world) annotate(name, key, value string) {
	w.t.Helper()
	w.change(name, func(s *v1alpha1.Subscription) { s.Annotations = map[string]string{key: value} })
}

func (w *world) follow(name, channel string) {
	w.t.Helper()
	w.change(name, func(s *v1alpha1.Subscription) { s.Spec.Channel = channel })
}

func (w *world) approve(p *v1alpha1.InstallPlan) {
	w.t.Helper()
	p.Spec.Approved = true
	must.NoError(w.t, w.client.Update(w.t.Context(), p))
}

func (w *world) add(o client.Object) {
	w.t.Helper()
	o.SetUID(types.UID("uid-" + o.GetName()))
	must.NoError(w.t, w.client.Create(w.t.Context(), o))
}

func (w *world) remove(o client.Object) {
	w.t.Helper()
	must.NoError(w.t, w.client.Delete(w.t.Context(), o))
}

// serve publishes a catalog with the given content.
func (w *world) serve(name, content string) {
	w.t.Helper()
	c, err := catalog.Load(w.t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(content)}}, catalog.LoadOptions{})
	must.NoError(w.t, err)
	x, err := catalog.NewIndex(c, fmt.Sprintf("sha256:%x", len(content)))
	must.NoError(w.t, err)
	must.NoError(w.t, x.Problems().Err()) // warnings are none
	w.publish(name, catalogstore.Entry{Index: x})
}

func (w *world) publish(name string, e catalogstore.Entry) {
	w.controller.Catalogs.Publish(catalog.Ref{Namespace: ns, Name: name}, e)
}

func running(name, properties string) *v1alpha1.ClusterServiceVersion {
	csv := &v1alpha1.ClusterServiceVersion{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Annotations: map[string]string{v1alpha1.PropertiesAnnotation: properties}},
		Status:     v1alpha1.ClusterServiceVersionStatus{Phase: v1alpha1.CSVPhaseSucceeded},
	}
	_, text, _ := strings.Cut(name, ".v")
	if err := csv.Spec.Version.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
		panic(err)
	}
	return csv
}

func operatorGroup(name string) *operatorsv1.OperatorGroup {
	return &operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
}

func catalogSource(name string) *v1alpha1.CatalogSource {
	return &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
}

func subscribe(name, pkg string, approval v1alpha1.Approval) *v1alpha1.Subscription {
	return &v1alpha1.Subscription{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: &v1alpha1.SubscriptionSpec{CatalogSource: "cat", CatalogSourceNamespace: ns, Package: pkg, Channel: "stable",
			InstallPlanApproval: approval},
	}
}

// pkg is the text of a package with a linear channel; each version is given as VERSION or VERSION:PAD, where PAD adds so many bytes to
// the description.
func pkg(name string, provides, requires string, versions ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nschema: olm.package\nname: %s\ndefaultChannel: stable\n", name)
	fmt.Fprintf(&b, "---\nschema: olm.channel\npackage: %s\nname: stable\nentries:\n", name)
	for i, v := range versions {
		fmt.Fprintf(&b, "- name: %s.v%s\n", name, v)
		if i > 0 {
			fmt.Fprintf(&b, "  replaces: %s.v%s\n", name, versions[i-1])
		}
	}
	for _, v := range versions {
		fmt.Fprintf(&b, "---\nschema: olm.bundle\npackage: %s\nname: %s.v%s\nimage: \"\"\nproperties:\n", name, name, v)
		fmt.Fprintf(&b, "- type: olm.package\n  value: {packageName: %s, version: %s}\n", name, v)
		if provides != "" {
			fmt.Fprintf(&b, "- type: olm.gvk\n  value: {group: example.com, version: v1, kind: %s}\n", provides)
		}
		if requires != "" {
			fmt.Fprintf(&b, "- type: olm.gvk.required\n  value: {group: example.com, version: v1, kind: %s}\n", requires)
		}
		for _, manifest := range manifests(name, v) {
			fmt.Fprintf(&b, "- type: olm.bundle.object\n  value: {data: %s}\n", base64.StdEncoding.EncodeToString([]byte(manifest)))
		}
	}
	return b.String()
}

func manifests(name, v string) []string {
	return []string{
		fmt.Sprintf(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"%[1]s.v%[2]s"},
			"spec":{"displayName":%[1]q,"version":%[2]q,"description":%[3]q,"installModes":[{"type":"AllNamespaces","supported":true}],
			"install":{"strategy":"deployment","spec":{"deployments":[{"name":%[1]q,"spec":{"selector":{"matchLabels":{"app":%[1]q}},
			"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"serviceAccountName":%[1]q,"containers":[{"name":"op","image":"registry.example.com/op"}]}}}}],
			"permissions":[{"serviceAccountName":%[1]q,"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}]}}}}`,
			name, v, strings.Repeat("long ", 1000)),
		fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s-config"},"data":{"version":%q}}`, name, v),
	}
}
