package revision

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	v2 "fairlead.dev/fairlead/api/operators/v2"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/test/must"
)

var errRefused = errors.New("connection refused")

var preflightScheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := errors.Join(olmv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), v2.AddToScheme(scheme), corev1.AddToScheme(scheme), rbacv1.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		panic(err)
	}
	kites := schema.GroupVersion{Group: "example.com", Version: "v1"}
	for _, kind := range []string{"Kite", "Hawk"} {
		scheme.AddKnownTypeWithName(kites.WithKind(kind), &unstructured.Unstructured{})
		scheme.AddKnownTypeWithName(kites.WithKind(kind+"List"), &unstructured.UnstructuredList{})
	}
	return scheme
}()

// world is a cluster that has some objects.
func world(all ...client.Object) client.WithWatch {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	return fake.NewClientBuilder().WithScheme(preflightScheme).WithRESTMapper(mapper).WithObjects(all...).Build()
}

// without is a cluster of which one kind, or list of a kind, cannot be read.
func without(c client.WithWatch, kind string, err error) client.WithWatch {
	return lacking{c, kind, err}
}

type lacking struct {
	client.WithWatch
	kind string
	err  error
}

func (l lacking) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if l.is(into) {
		return l.err
	}
	return l.WithWatch.Get(ctx, key, into, options...)
}

func (l lacking) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	if l.is(into) {
		return l.err
	}
	return l.WithWatch.List(ctx, into, options...)
}

func (l lacking) is(o runtime.Object) bool {
	return o.GetObjectKind().GroupVersionKind().Kind == l.kind || reflect.TypeOf(o).Elem().Name() == l.kind
}

// typed is an object of a cluster.
func typed[T any, P interface {
	*T
	client.Object
}](t testing.TB, text string) P {
	t.Helper()
	o := P(new(T))
	must.NoError(t, yaml.UnmarshalStrict([]byte(text), o))
	return o
}

// kite is the extension that is judged, with annotations in pairs.
func kite(annotations ...string) *olmv1.ClusterExtension {
	ext := &olmv1.ClusterExtension{}
	ext.Name, ext.UID, ext.Spec.Namespace = "kite", "ext", "sky"
	ext.Spec.Source.Catalog = &olmv1.CatalogFilter{PackageName: "kite"}
	ext.Annotations = map[string]string{}
	for i := 0; i < len(annotations); i += 2 {
		ext.Annotations[annotations[i]] = annotations[i+1]
	}
	return ext
}

// made is a revision of the extension that was rolled out, and its Secrets.
func made(t testing.TB, number int64, of Bundle, objects ...*unstructured.Unstructured) *Revision {
	t.Helper()
	if len(objects) == 0 {
		objects = append(objects, object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: sky}}"))
	}
	r := must.Value(Build(Options{Extension: Extension{Name: "kite", UID: "ext", Namespace: "sky"}, Number: number, SystemNamespace: "olm", Objects: objects,
		Annotations: map[string]string{olmv1.BundleNameKey: of.Name, olmv1.BundleVersionKey: of.Version, olmv1.BundleReferenceKey: of.Image, ContentKey: of.Content}}))(t)
	r.Set.UID = types.UID(fmt.Sprintf("set-%d", number))
	meta.SetStatusCondition(&r.Set.Status.Conditions, olmv1.NewCondition(olmv1.TypeSucceeded, "True", olmv1.ReasonSucceeded, ""))
	return r
}

// wantAnswer is that of a gate: nothing where the text is empty, and otherwise an error with the text, which is a Refusal of a reason, or none
// where that is empty.
func wantAnswer(t *testing.T, err error, text, reason string) {
	t.Helper()
	if text == "" {
		must.NoErrorf(t, err, "refused")
		return
	}
	if !contains(err, text) {
		t.Errorf("the answer is %v; want %q", err, text)
	}
	got, stop := "", (*Refusal)(nil)
	if errors.As(err, &stop) {
		got = stop.Reason
	}
	if got != reason {
		t.Errorf("the reason to stop is %q, want %q: %v", got, reason, err)
	}
}
