package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// maxAnnotations is how many bytes the annotations of an object may have.
const maxAnnotations = 256 << 10

// checkObjectMeta checks what the API server demands of the metadata of every object. The name is for those who install it.
func checkObjectMeta(r recorder) {
	for _, f := range r.Manifests {
		if f.Object == nil {
			continue
		}
		at := r.objectPlace(f.Object)
		labels := texts(r, at, f.Object, "labels")
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			field := at.in("metadata.labels[%s]", key)
			for _, message := range validation.IsQualifiedName(key) {
				r.err(RuleObjectMeta, field, message, "correct the key")
			}
			for _, message := range validation.IsValidLabelValue(labels[key]) {
				r.err(RuleObjectMeta, field, message, "correct the value")
			}
		}
		annotations, size := texts(r, at, f.Object, "annotations"), 0
		for _, key := range slices.Sorted(maps.Keys(annotations)) {
			size += len(key) + len(annotations[key])
			for _, message := range validation.IsQualifiedName(strings.ToLower(key)) {
				r.err(RuleObjectMeta, at.in("metadata.annotations[%s]", key), message, "correct the key")
			}
		}
		if size > maxAnnotations {
			r.err(RuleObjectMeta, at.in("metadata.annotations"), fmt.Sprintf("they have %d bytes, and may have %d", size, maxAnnotations), "shorten them")
		}
		// The namespace of a ClusterServiceVersion is often a placeholder, and the installer puts the real one in its place.
		severity := catalog.Error
		if f.Object.GetKind() == v1alpha1.ClusterServiceVersionKind {
			severity = catalog.Warning
		}
		if namespace := f.Object.GetNamespace(); namespace != "" {
			for _, message := range validation.IsDNS1123Label(namespace) {
				r.add(severity, RuleObjectMeta, at.in("metadata.namespace"), message, "correct the namespace, or remove it")
			}
		}
	}
}

// texts is a map of texts in the metadata of an object; that it is something else is a finding. Nothing is as good as an empty text.
func texts(r recorder, at place, object *unstructured.Unstructured, field string) map[string]string {
	value, _, err := unstructured.NestedFieldNoCopy(object.Object, "metadata", field)
	if err == nil && value == nil {
		return nil
	}
	entries, ok := value.(map[string]any)
	out := map[string]string{}
	for key, value := range entries {
		text, isText := value.(string)
		ok = ok && (isText || value == nil)
		out[key] = text
	}
	if !ok {
		r.err(RuleObjectMeta, at.in("metadata.%s", field), "not all values are texts", "write it as a mapping, with the values in quotes")
	}
	return out
}
