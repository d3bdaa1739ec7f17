package crds_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/test/must"
)

// rounds is how many random objects of each kind are tried.
const rounds = 20

// eachKind runs a check for random objects of each kind and list.
func eachKind(t *testing.T, check func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object, scheme *runtime.Scheme)) {
	scheme := newScheme(t)
	filler := newFiller(scheme, 1)
	for gvk, goType := range scheme.AllKnownTypes() {
		if !strings.HasPrefix(goType.PkgPath(), "fairlead.dev/fairlead/api/") {
			continue // such as ListOptions, which every group has
		}
		t.Run(gvk.String(), func(t *testing.T) {
			for range rounds {
				obj := must.Value(scheme.New(gvk))(t)
				filler.Fill(obj)
				obj.GetObjectKind().SetGroupVersionKind(gvk)
				check(t, gvk, obj, scheme)
			}
		})
	}
}

func TestJSONRoundTrip(t *testing.T) {
	eachKind(t, func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object, scheme *runtime.Scheme) {
		got := must.Value(scheme.New(gvk))(t)
		convert(t, obj, got)
		if !apiequality.Semantic.DeepEqual(obj, got) {
			t.Fatalf("the object changed on its way through JSON (-before +after):\n%s", cmp.Diff(obj, got))
		}
	})
}

func TestUnstructuredRoundTrip(t *testing.T) {
	eachKind(t, func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object, scheme *runtime.Scheme) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		must.NoErrorf(t, err, "to unstructured")
		got := must.Value(scheme.New(gvk))(t)
		must.NoErrorf(t, runtime.DefaultUnstructuredConverter.FromUnstructured(content, got), "from unstructured")
		if !apiequality.Semantic.DeepEqual(obj, got) {
			t.Fatalf("the object changed on its way through unstructured content (-before +after):\n%s", cmp.Diff(obj, got))
		}
	})
}

func TestDeepCopyIsEqualAndApart(t *testing.T) {
	eachKind(t, func(t *testing.T, gvk schema.GroupVersionKind, obj runtime.Object, scheme *runtime.Scheme) {
		before, after := map[string]any{}, map[string]any{}
		convert(t, obj, &before)
		clone := obj.DeepCopyObject()
		newFiller(scheme, 2).Fill(clone)
		convert(t, obj, &after)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Fatalf("filling a copy changed the object (-before +after):\n%s", diff)
		}
	})
}

func TestSchemasKnowEveryGoField(t *testing.T) {
	known := must.Value(admissions())(t)
	scheme := newScheme(t)
	filler := newFiller(scheme, 3)
	for gvk, a := range known {
		t.Run(gvk.String(), func(t *testing.T) {
			for range rounds {
				obj := must.Value(scheme.New(gvk))(t)
				filler.Fill(obj)
				content := map[string]any{}
				convert(t, obj, &content)
				if unknown := a.prune(content); len(unknown) > 0 {
					t.Fatalf("the schema lacks fields of the Go type: %v", unknown)
				}
			}
		})
	}
}
