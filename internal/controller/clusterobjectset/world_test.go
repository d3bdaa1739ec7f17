package clusterobjectset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/fakeapi"
	"fairlead.dev/fairlead/test/must"
)

var epoch = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// testScheme has only the kinds that tests use: the fake server looks through all of them at every write.
var testScheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(corev1.SchemeGroupVersion, &corev1.ConfigMap{}, &corev1.ConfigMapList{}, &corev1.Secret{}, &corev1.SecretList{}, &corev1.Service{}, &corev1.ServiceList{},
		&corev1.Pod{}, &corev1.PodList{})
	scheme.AddKnownTypes(appsv1.SchemeGroupVersion, &appsv1.Deployment{}, &appsv1.DeploymentList{})
	scheme.AddKnownTypes(apiextensionsv1.SchemeGroupVersion, &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinitionList{})
	scheme.AddKnownTypes(discoveryv1.SchemeGroupVersion, &discoveryv1.EndpointSlice{}, &discoveryv1.EndpointSliceList{})
	for kind, stored := range map[string]runtime.Object{"Thing": &metav1.PartialObjectMetadata{}, "ThingList": &metav1.PartialObjectMetadataList{}} {
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind}, stored)
	}
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	metav1.AddToGroupVersion(scheme, discoveryv1.SchemeGroupVersion)
	metav1.AddToGroupVersion(scheme, apiextensionsv1.SchemeGroupVersion)
	metav1.AddToGroupVersion(scheme, appsv1.SchemeGroupVersion)
	if err := errors.Join(olmv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		panic(err)
	}
	return scheme
}()

// world is a fake API server with a controller on it.
type world struct {
	*testing.T
	*fakeapi.Server
	controller *Controller
	reads      []string // of objects, but for those that are cached
	// accountless makes service accounts unknown.
	accountless bool
	wanted      map[string]bool
	// unknown are groups that discovery says nothing of; count, countErr and held what there is of every definition.
	unknown  []string
	count    int64
	countErr error
	held     []string
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	builder := fake.NewClientBuilder().WithScheme(testScheme).WithReturnManagedFields().WithStatusSubresource(&olmv1.ClusterObjectSet{}).
		WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(testScheme)).WithIndex(&olmv1.ClusterObjectSet{}, indexByOwner, ownerKeys)
	w := &world{T: t, Server: fakeapi.New(epoch, builder.WithObjects(objects...)), wanted: map[string]bool{}}
	w.Read = func(o client.Object, name string) error {
		if _, cached := o.(*olmv1.ClusterObjectSet); !cached {
			w.reads = append(w.reads, o.GetObjectKind().GroupVersionKind().Kind+" "+name)
		}
		return nil
	}
	w.restart()
	return w
}

// restart is a new manager: it knows nothing of what the one before did.
func (w *world) restart() {
	w.controller = newController(&environment{
		client: w.Server, live: w.Server, accounts: w, watches: (*fakeWatches)(w), events: w.Events, clock: w.Clock, namespace: "olm",
		kinds: func(context.Context) ([]schema.GroupVersionKind, []string, error) {
			return []schema.GroupVersionKind{crdKind, {Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Service"}, {Group: "apps", Version: "v1", Kind: "Deployment"},
				{Group: "example.com", Version: "v1", Kind: "Unknown"}}, w.unknown, nil
		},
		count: func(context.Context, client.Reader, *apiextensionsv1.CustomResourceDefinition) (int64, bool, error) {
			return w.count, false, w.countErr
		},
		held: func(context.Context, client.Reader, *apiextensionsv1.CustomResourceDefinition) ([]string, error) {
			return w.held, nil
		},
		engine: &rollout.Engine{Client: w.Server, FieldManager: objectManager, Parallel: 1},
	})
}

// Client acts as a service account.
func (w *world) Client(_ context.Context, namespace, name string) (client.Client, error) {
	if w.accountless {
		return nil, fmt.Errorf("act as ServiceAccount %s/%s: %w", namespace, name, apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccounts"}, name))
	}
	return w.As(namespace + "/" + name), nil
}

// fakeWatches know everything at once.
type fakeWatches world

func (f *fakeWatches) want(_ context.Context, set *olmv1.ClusterObjectSet, _ []schema.GroupVersionKind) error {
	f.wanted[set.Name] = true
	return nil
}

func (f *fakeWatches) free(_ context.Context, set string) { delete(f.wanted, set) }

func (f *fakeWatches) version(ref rollout.Ref) (string, bool) {
	u := named(ref)
	if err := f.Inner.Get(f.Context(), client.ObjectKeyFromObject(u), u); err != nil || u.GetLabels()[managedByLabel] != managedByValue {
		return "", true
	}
	return u.GetResourceVersion(), true
}

func (f *fakeWatches) secret(name types.NamespacedName) (string, bool) {
	s := &corev1.Secret{}
	if err := f.Inner.Get(f.Context(), name, s); err != nil {
		return "", true
	}
	return s.ResourceVersion, s.Type == olmv1.SecretTypeObjectData
}

// pass makes one pass over a set.
func (w *world) pass(name string) (reconcile.Result, error) {
	return w.controller.Reconcile(w.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
}

// settle makes passes over all sets until none writes any more.
func (w *world) settle() {
	w.Helper()
	for range 30 {
		before := w.Made()
		for _, name := range w.names() {
			if _, err := w.pass(name); err != nil && !errors.Is(err, fakeapi.ErrKilled) {
				w.Logf("pass over %s: %v", name, err)
			}
		}
		if w.Made() == before {
			return
		}
	}
	w.Fatalf("it does not come to rest: %v", w.Taken())
}

func (w *world) names() []string {
	w.Helper()
	var list olmv1.ClusterObjectSetList
	if err := w.Inner.List(w.Context(), &list); err != nil {
		w.Fatal(err)
	}
	var names []string
	for _, s := range list.Items {
		names = append(names, s.Name)
	}
	return names
}

// taken returns the writes since the last call, and forgets the reads.
func (w *world) taken() []string {
	w.reads = nil
	return w.Taken()
}

func (w *world) set(name string) *olmv1.ClusterObjectSet {
	w.Helper()
	set := &olmv1.ClusterObjectSet{}
	if err := w.Inner.Get(w.Context(), client.ObjectKey{Name: name}, set); err != nil {
		w.Fatal(err)
	}
	return set
}

// condition is TYPE=STATUS/REASON: MESSAGE.
func (w *world) condition(set, kind string) string {
	w.Helper()
	c := meta.FindStatusCondition(w.set(set).Status.Conditions, kind)
	if c == nil {
		return kind + " is not set"
	}
	return fmt.Sprintf("%s=%s/%s: %s", c.Type, c.Status, c.Reason, c.Message)
}

// expect compares the beginning of a condition, and a part of its message.
func (w *world) expect(set, condition string, parts ...string) {
	w.Helper()
	kind, _, _ := strings.Cut(condition, "=")
	got := w.condition(set, kind)
	if !strings.HasPrefix(got, condition) {
		w.Errorf("%s: %s, want %s", set, got, condition)
	}
	for _, p := range parts {
		if !strings.Contains(got, p) {
			w.Errorf("%s: %s lacks %q", set, got, p)
		}
	}
}

func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	must.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
	return u
}

func configMap(t testing.TB, name, value string) *unstructured.Unstructured {
	return object(t, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns, name: %s}, data: {key: %q}}", name, value))
}

func deployment(t testing.TB, name, image string) *unstructured.Unstructured {
	return object(t, fmt.Sprintf(`
apiVersion: apps/v1
kind: Deployment
metadata: {namespace: ns, name: %s}
spec:
  selector: {matchLabels: {app: op}}
  template: {metadata: {labels: {app: op}}, spec: {containers: [{name: manager, image: %s}]}}
`, name, image))
}

func service(t testing.TB, name string) *unstructured.Unstructured {
	return object(t, fmt.Sprintf("{apiVersion: v1, kind: Service, metadata: {namespace: ns, name: %s}, spec: {ports: [{port: 80}]}}", name))
}

// options are those of revision n of extension ext.
func options(n int64, objects ...*unstructured.Unstructured) revision.Options {
	return revision.Options{
		Extension: revision.Extension{Name: "ext", UID: "ext-uid", Namespace: "ns"}, Number: n, SystemNamespace: "olm", Objects: objects,
		Annotations: map[string]string{olmv1.BundleVersionKey: fmt.Sprintf("%d.0.0", n), olmv1.PackageNameKey: "pkg"},
	}
}

// revise brings a revision into the world.
func (w *world) revise(o revision.Options) string {
	w.Helper()
	r, err := revision.Build(o)
	if err != nil {
		w.Fatal(err)
	}
	if err := revision.Write(w.Context(), w.Server, r); err != nil {
		w.Fatal(err)
	}
	return r.Set.Name
}

func (w *world) get(kind, name string) *unstructured.Unstructured {
	w.Helper()
	ref := rollout.Ref{Namespace: "ns", Name: name}
	ref.GroupVersionKind = schema.GroupVersionKind{Version: "v1", Kind: kind}
	if kind == "Deployment" {
		ref.Group = "apps"
	}
	u := named(ref)
	err := w.Inner.Get(w.Context(), client.ObjectKeyFromObject(u), u)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.Fatal(err)
	}
	return u
}

// run makes a Deployment available, or not.
func (w *world) run(name string, available bool) {
	w.Helper()
	u := w.get("Deployment", name)
	status := "False"
	if available {
		status = "True"
	}
	u.Object["status"] = map[string]any{"observedGeneration": u.GetGeneration(), "replicas": int64(1), "updatedReplicas": int64(1),
		"conditions": []any{map[string]any{"type": "Available", "status": status, "message": "said the test"}}}
	if err := w.Inner.Status().Update(w.Context(), u); err != nil {
		w.Fatal(err)
	}
	// The fake server keeps the status of kinds without a subresource with the object.
	if err := w.Inner.Update(w.Context(), u); err != nil {
		w.Fatal(err)
	}
}

// objects are KIND/NAME@VALUE controlled by SET, of the kinds that tests use.
func (w *world) objects() []string {
	w.Helper()
	var out []string
	for _, kind := range []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMapList"}, {Version: "v1", Kind: "ServiceList"}, {Group: "apps", Version: "v1", Kind: "DeploymentList"}} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := w.Inner.List(w.Context(), list, client.InNamespace("ns")); err != nil {
			w.Fatal(err)
		}
		for i := range list.Items {
			u := &list.Items[i]
			value, _, _ := unstructured.NestedString(u.Object, "data", "key")
			out = append(out, fmt.Sprintf("%s/%s@%s of %s", u.GetKind(), u.GetName(), value, setOf(u)))
		}
	}
	slices.Sort(out)
	return out
}

func keyOf(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// integers gives whole numbers the type that they have when they come from the API server.
func integers(u *unstructured.Unstructured) *unstructured.Unstructured {
	text, err := u.MarshalJSON()
	if err != nil {
		panic(err)
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	return out
}
