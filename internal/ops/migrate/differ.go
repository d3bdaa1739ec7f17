package migrate

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxFields is how many fields of an object are named.
const maxFields = 20

// ownMaps are maps of which all is the author's: what is there besides is a difference.
var ownMaps = map[string]bool{".spec.template.metadata.annotations": true, ".spec.template.metadata.labels": true}

// Differences are the paths of the fields in which a live object is not as wanted. What is not wanted is the cluster's and no difference, but
// for the metadata of pods.
func Differences(wanted, live *unstructured.Unstructured) []string {
	var out []string
	for _, field := range slices.Sorted(maps.Keys(wanted.Object)) {
		switch field {
		case "apiVersion", "kind", "status":
		case "metadata":
			for _, part := range []string{"labels", "annotations"} {
				a, _, _ := unstructured.NestedMap(wanted.Object, "metadata", part)
				b, _, _ := unstructured.NestedMap(live.Object, "metadata", part)
				out = append(out, differ(".metadata."+part, a, b)...)
			}
		default:
			out = append(out, differ("."+field, wanted.Object[field], live.Object[field])...)
		}
	}
	if len(out) > maxFields {
		return append(out[:maxFields], "…")
	}
	return out
}

func differ(path string, wanted, live any) []string {
	switch w := wanted.(type) {
	case map[string]any:
		l, _ := live.(map[string]any)
		var out []string
		for _, key := range slices.Sorted(maps.Keys(w)) {
			out = append(out, differ(path+"."+key, w[key], l[key])...)
		}
		if ownMaps[path] {
			for _, key := range slices.Sorted(maps.Keys(l)) {
				if _, there := w[key]; !there {
					out = append(out, path+"."+key)
				}
			}
		}
		return out
	case []any:
		l, _ := live.([]any)
		if len(w) != len(l) {
			return []string{path}
		}
		var out []string
		for i := range w {
			item := strconv.Itoa(i)
			if m, ok := w[i].(map[string]any); ok {
				if name, ok := m["name"].(string); ok && name != "" {
					item = name
				}
			}
			out = append(out, differ(path+"["+item+"]", w[i], l[i])...)
		}
		return out
	case nil:
		return nil
	}
	if live == nil && (wanted == false || wanted == "" || wanted == int64(0)) { // the API server leaves these out
		return nil
	}
	a, errA := json.Marshal(wanted)
	b, errB := json.Marshal(live)
	if errA == nil && errB == nil && string(a) == string(b) {
		return nil
	}
	return []string{path}
}
