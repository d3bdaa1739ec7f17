package catalog

import (
	"encoding/json"

	"sigs.k8s.io/yaml"
)

// ToJSON returns a small document, written in JSON or YAML, as JSON. JSON stays as it is: not all of it is YAML, such as escapes for halves of
// characters. Documents of catalogs are read by other means, with limits.
func ToJSON(document []byte) ([]byte, error) {
	if json.Valid(document) {
		return document, nil
	}
	return yaml.YAMLToJSON(document)
}
