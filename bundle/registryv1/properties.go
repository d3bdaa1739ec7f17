package registryv1

import (
	"bytes"
	"encoding/json"
	"fmt"

	"fairlead.dev/fairlead/bundle"
)

// propertiesOf is the JSON list of the properties in the annotation of the ClusterServiceVersion, followed by those in the metadata of the
// bundle; nil when there are none.
func propertiesOf(b *bundle.Bundle) (json.RawMessage, error) {
	properties, err := annotatedProperties(b)
	if err != nil {
		return nil, fmt.Errorf("read annotation %s of bundle %s: %w", propertiesAnnotation, b.Name, err)
	}
	if properties = append(properties, b.Properties...); len(properties) == 0 {
		return nil, nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(properties); err != nil {
		return nil, fmt.Errorf("write the properties of bundle %s: %w", b.Name, err)
	}
	return bytes.TrimSpace(text.Bytes()), nil
}
