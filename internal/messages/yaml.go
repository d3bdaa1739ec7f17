package messages

import (
	"encoding/json"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// YAML is a value as YAML, by the names that it has as JSON. It has every text, while yaml.Marshal fails on some control characters, of which a text of a cluster
// may have any.
func YAML(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var readable strings.Builder
	for _, r := range string(text) {
		if r >= 0x7f && r <= 0x9f || r == 0xfffe || r == 0xffff { // which YAML may not have as they are, and JSON may within its quotes
			fmt.Fprintf(&readable, `\u%04x`, r)
		} else {
			readable.WriteRune(r)
		}
	}
	return yaml.JSONToYAML([]byte(readable.String()))
}
