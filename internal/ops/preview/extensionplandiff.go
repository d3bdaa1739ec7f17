package preview

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// byName is the content of objects, without what revisions add to them, and without what is trusted, which is renewed all the time.
func byName(all []*unstructured.Unstructured) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, u := range all {
		var content map[string]any
		text, err := json.Marshal(u.Object) // so that numbers are compared as numbers, whatever their Go types
		if err == nil {
			err = json.Unmarshal(text, &content)
		}
		if err != nil {
			panic("objects that were read as JSON always encode: " + err.Error())
		}
		o := &unstructured.Unstructured{Object: content}
		labels, annotations := o.GetLabels(), o.GetAnnotations()
		for _, key := range []string{olmv1.OwnerKindKey, olmv1.OwnerNameKey} {
			delete(labels, key)
		}
		for _, key := range []string{olmv1.BundleVersionKey, olmv1.PackageNameKey} {
			delete(annotations, key)
		}
		if o.SetLabels(labels); len(labels) == 0 {
			o.SetLabels(nil)
		}
		if o.SetAnnotations(annotations); len(annotations) == 0 {
			o.SetAnnotations(nil)
		}
		unstructured.RemoveNestedField(content, "status")
		unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
		withoutTrust(content)
		out[rollout.RefOf(u).String()] = content
	}
	return out
}

// withoutTrust takes CA certificates away, wherever they are.
func withoutTrust(value any) {
	switch v := value.(type) {
	case map[string]any:
		delete(v, "caBundle")
		for _, inner := range v {
			withoutTrust(inner)
		}
	case []any:
		for _, inner := range v {
			withoutTrust(inner)
		}
	}
}

// maxFields is how many fields of an object are named.
const maxFields = 20

// fields are the paths of what differs; lists are named as a whole.
func fields(all []FieldChange) []string {
	var paths []string
	for _, c := range all {
		path, _, _ := strings.Cut(c.Path, itemStep)
		if n := len(paths); n > 0 && paths[n-1] == path {
			continue
		}
		if len(paths) == maxFields {
			return append(paths, "…")
		}
		paths = append(paths, path)
	}
	return paths
}

// images are those of all containers.
func images(all []*unstructured.Unstructured) map[string]bool {
	out := map[string]bool{}
	for _, u := range all {
		for _, field := range []string{"containers", "initContainers"} {
			containers, _, _ := unstructured.NestedSlice(u.Object, "spec", "template", "spec", field)
			for _, c := range containers {
				container, _ := c.(map[string]any) // of a bundle, which may have anything there
				if image, _ := container["image"].(string); image != "" {
					out[image] = true
				}
			}
		}
	}
	return out
}

// lacking are the elements of one set that another one lacks, in order.
func lacking(one, other map[string]bool) []string {
	var all []string
	for _, element := range slices.Sorted(maps.Keys(one)) {
		if !other[element] {
			all = append(all, element)
		}
	}
	return all
}
