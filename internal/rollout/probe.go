package rollout

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Probe reports what a live object still lacks to be of use; empty is nothing.
type Probe func(live *unstructured.Unstructured) string

// All asks every probe and returns what the first unsatisfied one says.
func All(probes ...Probe) Probe {
	return func(live *unstructured.Unstructured) string {
		for _, p := range probes {
			if missing := p(live); missing != "" {
				return missing
			}
		}
		return ""
	}
}

// Observed waits until the controller of the object has seen its latest spec, where the object reports.
func Observed(live *unstructured.Unstructured) string {
	observed, found, err := unstructured.NestedInt64(live.Object, "status", "observedGeneration")
	if err != nil || !found || observed == live.GetGeneration() {
		return ""
	}
	return fmt.Sprintf("its generation %d has not been seen by its controller, which is at %d", live.GetGeneration(), observed)
}

// Condition waits until a condition of the object has a status.
func Condition(kind, status string) Probe {
	return func(live *unstructured.Unstructured) string {
		conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
		for _, each := range conditions {
			c, _ := each.(map[string]any)
			if c["type"] != kind {
				continue
			}
			if c["status"] == status {
				return ""
			}
			text := fmt.Sprintf("condition %s is %v", kind, c["status"])
			for _, field := range []string{"reason", "message"} {
				if value, _ := c[field].(string); value != "" {
					text += ": " + value
				}
			}
			return text
		}
		return fmt.Sprintf("condition %s is not set yet", kind)
	}
}

// FieldValue waits until the field at a dotted path has a value, in the form in which it is printed. Clients match on what it says of another value.
func FieldValue(path, value string) Probe {
	return func(live *unstructured.Unstructured) string {
		there, found := field(live, path)
		if !found {
			return fmt.Sprintf("%s is not set yet", path)
		}
		if fmt.Sprint(there) == value {
			return ""
		}
		got, err := json.Marshal(there)
		if err != nil {
			got = fmt.Appendf(nil, "%q", fmt.Sprint(there))
		}
		return fmt.Sprintf("value at key %q != %q; expected: %[2]q got: %s", path, value, got)
	}
}

// FieldsEqual waits until the fields at two dotted paths exist and have the same value.
func FieldsEqual(a, b string) Probe {
	return func(live *unstructured.Unstructured) string {
		left, found := field(live, a)
		if !found {
			return fmt.Sprintf("%s is not set yet", a)
		}
		right, found := field(live, b)
		if !found {
			return fmt.Sprintf("%s is not set yet", b)
		}
		if reflect.DeepEqual(left, right) {
			return ""
		}
		return fmt.Sprintf("%s is %v, but %s is %v", a, left, b, right)
	}
}

func field(live *unstructured.Unstructured, path string) (any, bool) {
	value, found, err := unstructured.NestedFieldNoCopy(live.Object, strings.Split(strings.TrimPrefix(path, "."), ".")...)
	return value, found && err == nil
}

// Established waits until the API server serves a CustomResourceDefinition under its names.
func Established(live *unstructured.Unstructured) string {
	// The names are decided first; a conflict of names is the more telling reason.
	return All(Condition("NamesAccepted", "True"), Condition("Established", "True"))(live)
}
