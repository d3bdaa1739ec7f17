package operator

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

// full is an object of a kind as the API server sends it to the controller's own cache.
func full(k kind, i int) client.Object {
	o := k.object()
	o.SetName(fmt.Sprintf("object-%05d", i))
	o.SetNamespace("namespace")
	o.SetUID(types.UID(fmt.Sprint("uid", i)))
	o.SetResourceVersion(fmt.Sprint(i))
	o.SetLabels(map[string]string{"app": "x"})
	o.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": strings.Repeat("x", 2<<10)})
	o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x", FieldsV1: metav1.NewFieldsV1(strings.Repeat("x", 2<<10))}})
	switch o := o.(type) {
	case *appsv1.Deployment:
		o.Spec.Template.Spec.Containers = make([]corev1.Container, 3)
		o.Status = appsv1.DeploymentStatus{ReadyReplicas: 1, Conditions: []appsv1.DeploymentCondition{{Type: "Available", Status: "True"}}}
	case *corev1.Service:
		o.Spec.ClusterIP, o.Status.Conditions = "10.0.0.1", []metav1.Condition{{Type: "Ready", Status: "True"}}
	case *corev1.Namespace:
		o.Spec.Finalizers, o.Status.Conditions = []corev1.FinalizerName{"x"}, []corev1.NamespaceCondition{{Type: "Ready", Status: "True"}}
	}
	return o
}

// TestWhatTheCacheHolds of a component, and of what is none.
func TestWhatTheCacheHolds(t *testing.T) {
	for _, k := range kinds {
		if !k.own {
			continue
		}
		t.Run(k.gvk.Kind, func(t *testing.T) {
			for what, test := range map[string]struct {
				o    client.Object
				kept bool
			}{
				"component": {with(full(k, 1), key), true},
				"owned":     {ownerLabels("etcd.v1", full(k, 1)), true},
				"else":      {full(k, 1), false},
			} {
				want := k.reference(test.o)
				labels := test.o.GetLabels()
				if !test.kept {
					want.Conditions, labels = nil, nil
				}
				got := must.Value(trim(test.o))(t)
				o := got.(client.Object)
				must.Equal(t, what, k.reference(o), want)
				if diff := cmp.Diff(labels, o.GetLabels()); diff != "" || o.GetAnnotations() != nil || o.GetManagedFields() != nil || o.GetUID() == "" || o.GetResourceVersion() == "" {
					t.Errorf("%s: metadata %+v\n%s", what, o, diff)
				}
				switch o := o.(type) {
				case *appsv1.Deployment:
					if o.Spec.Template.Spec.Containers != nil {
						t.Errorf("%s: the containers are kept", what)
					}
				case *corev1.Service:
					must.Equal(t, what+": the address is kept", o.Spec.ClusterIP, "")
				}
			}
		})
	}
	if got, err := trim(cache.DeletedFinalStateUnknown{Key: "a"}); err != nil || got == nil {
		t.Errorf("what is no object: %v, %v", got, err)
	}
}

// TestMemoryOfComponents: 10,000 components and 20,000 other objects, as the cache holds them.
func TestMemoryOfComponents(t *testing.T) {
	const components, others, bound = 10_000, 20_000, 60 << 20
	k := ofKind(t, "Deployment")
	before := heap()
	store := make([]client.Object, 0, components+others)
	for i := range components + others {
		o := full(k, i)
		if i < components {
			o = with(o, key)
		}
		trimmed := must.Value(trim(o))(t)
		store = append(store, trimmed.(client.Object))
	}
	used := heap() - before
	t.Logf("%d components and %d others take %.1f MiB", components, others, float64(used)/(1<<20))
	if used > bound {
		t.Errorf("they take %d bytes, want at most %d", used, bound)
	}
	runtime.KeepAlive(store)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
