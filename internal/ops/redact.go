package ops

import (
	"encoding/base64"
	"fmt"
	"regexp"

	"fairlead.dev/fairlead/internal/messages"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// secretive match names of variables whose values give access.
var secretive = regexp.MustCompile(`(?i)(password|passwd|token|secret|credential|auth|private|api_?key|access_?key)`)

// redact takes values out of an object that only those may see who may read Secrets: of Secrets and ConfigMaps wherever they are, also within other
// objects, of variables with such names, and of credentials in texts.
func redact(u *unstructured.Unstructured) {
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	u.Object = redactMap(u.Object)
}

func redactMap(m map[string]any) map[string]any {
	if kind, _ := m["kind"].(string); kind == "Secret" || kind == "ConfigMap" {
		for _, field := range []string{"data", "stringData", "binaryData"} {
			if values, ok := m[field].(map[string]any); ok {
				sizes := map[string]any{}
				for key, value := range values {
					sizes[key] = sizeOf(value, kind == "Secret" && field == "data" || field == "binaryData")
				}
				m[field] = sizes
			}
		}
	}
	if annotations, ok := m["annotations"].(map[string]any); ok {
		delete(annotations, corev1.LastAppliedConfigAnnotation) // the object as it was written, values included
	}
	if step, ok := m["resource"].(map[string]any); ok { // of an InstallPlan
		if kind, _ := step["kind"].(string); kind == "Secret" || kind == "ConfigMap" {
			if manifest, ok := step["manifest"].(string); ok {
				step["manifest"] = sizeOf(manifest, false)
			}
		}
	}
	if name, ok := m["name"].(string); ok && secretive.MatchString(name) {
		if _, is := m["value"].(string); is {
			m["value"] = messages.Redacted
		}
	}
	for key, value := range m {
		m[key] = redactValue(value)
	}
	return m
}

func redactValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return redactMap(value)
	case []any:
		for i := range value {
			value[i] = redactValue(value[i])
		}
		return value
	case string:
		return messages.Redact(value)
	}
	return value
}

// sizeOf says how long a value is.
func sizeOf(value any, encoded bool) string {
	text, _ := value.(string)
	size := len(text)
	if encoded {
		if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
			size = len(plain)
		}
	}
	return fmt.Sprintf("(%d bytes)", size)
}
