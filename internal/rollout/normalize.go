package rollout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ContentAnnotation holds a digest of what was desired when the object was last written: as long as it is the same, and the fields
// are still ours, there is nothing to write.
const ContentAnnotation = "operators.fairlead.dev/content-hash"

// lastApplied is what kubectl leaves on objects; it describes another client's intent.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// serverFields are the metadata that the API server sets.
var serverFields = []string{"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// clean copies an object without status and without what the API server sets.
func clean(u *unstructured.Unstructured) *unstructured.Unstructured {
	out := u.DeepCopy()
	delete(out.Object, "status")
	for _, field := range serverFields {
		unstructured.RemoveNestedField(out.Object, "metadata", field)
	}
	if annotations := out.GetAnnotations(); annotations[lastApplied] != "" {
		delete(annotations, lastApplied)
		out.SetAnnotations(annotations)
	}
	return out
}

// prune removes the fields that the kind of an object does not have, and returns what was removed, as the API server would put it.
// A create drops such fields, and warns of them; an apply is refused because of them. Only the kinds of the scheme are known.
// A false that a type leaves out stays where the live object has a true: left out, the true would stay.
func prune(scheme *runtime.Scheme, u, live *unstructured.Unstructured) []string {
	typed, err := scheme.New(u.GroupVersionKind())
	if err != nil {
		return nil
	}
	if _, untyped := typed.(runtime.Unstructured); untyped {
		return nil
	}
	converter := runtime.DefaultUnstructuredConverter
	var unknown []string
	if err := converter.FromUnstructuredWithValidation(u.Object, typed, true); err != nil {
		strict, ok := runtime.AsStrictDecodingError(err)
		if !ok {
			return nil // the API server will say it better
		}
		for _, e := range strict.Errors() {
			unknown = append(unknown, e.Error())
		}
	}
	back, err := converter.ToUnstructured(typed)
	if err != nil {
		return nil
	}
	u.Object, _ = intersect(u.Object, back, live.Object).(map[string]any)
	return unknown
}

// intersect returns the fields of wanted that known has as well, with the values of known, and each false over a true of the live object. Items of lists
// have no live counterpart: their places may differ.
func intersect(wanted, known, live any) any {
	switch w := wanted.(type) {
	case map[string]any:
		k, ok := known.(map[string]any)
		if !ok {
			return known
		}
		out := make(map[string]any, len(w))
		is, _ := live.(map[string]any)
		for name, value := range w {
			if there, ok := k[name]; ok && there != nil {
				out[name] = intersect(value, there, is[name])
			} else if value == false && is[name] == true {
				out[name] = false
			}
		}
		return out
	case []any:
		k, ok := known.([]any)
		if !ok || len(k) != len(w) {
			return known
		}
		out := make([]any, len(w))
		for i := range w {
			out[i] = intersect(w[i], k[i], nil)
		}
		return out
	}
	return known
}

// stamp writes the digest of an object into its annotations.
func stamp(u *unstructured.Unstructured) {
	annotations := u.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	delete(annotations, ContentAnnotation)
	u.SetAnnotations(annotations)
	text, err := json.Marshal(u.Object) // maps are written in the order of their keys
	if err != nil {
		panic("an unstructured object always encodes: " + err.Error())
	}
	sum := sha256.Sum256(text)
	annotations[ContentAnnotation] = hex.EncodeToString(sum[:16])
	u.SetAnnotations(annotations)
}
