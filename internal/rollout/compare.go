package rollout

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Compare returns an object as the API server would take it, and what a live one has of the fields that it sets: what defaults and other clients have set
// besides is no difference, and neither are owner references, which name owners by their UIDs. Of kinds that the scheme does not know, a value in
// another notation is one. Neither object is changed.
func Compare(scheme *runtime.Scheme, wanted, live *unstructured.Unstructured) (will, is *unstructured.Unstructured) {
	will, is = clean(wanted), clean(live)
	prune(scheme, will, live)
	for _, u := range []*unstructured.Unstructured{will, is} {
		u.SetOwnerReferences(nil)
	}
	before, _ := among(will.Object, is.Object).(map[string]any)
	is.Object = before
	return will, is
}

// among returns what a live value has of the fields of a wanted one. Fields that are wanted empty, and that the live value does not have, are removed from
// the wanted one. Items of lists are compared by their places; a list of another length is returned whole.
func among(wanted, live any) any {
	switch w := wanted.(type) {
	case map[string]any:
		is, ok := live.(map[string]any)
		if !ok {
			return live
		}
		out := map[string]any{}
		for name, value := range w {
			there, has := is[name]
			switch {
			case has:
				out[name] = among(value, there)
			case isEmpty(value):
				delete(w, name)
			}
		}
		return out
	case []any:
		is, ok := live.([]any)
		if !ok || len(is) != len(w) {
			return live
		}
		out := make([]any, len(w))
		for i := range w {
			out[i] = among(w[i], is[i])
		}
		return out
	}
	return live
}
