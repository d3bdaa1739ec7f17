package platform

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxOpenShiftProperty is the property with the last minor version of OpenShift that a bundle is known to work on.
const maxOpenShiftProperty = "olm.maxOpenShiftVersion"

// MaxOpenShift is the last version of OpenShift that properties of a bundle name, in the form of the annotation olm.properties; nil when they
// name none, which means every version. Of several, which differ, the lowest counts.
func MaxOpenShift(properties string) (*Release, error) {
	if strings.TrimSpace(properties) == "" {
		return nil, nil
	}
	var list []struct {
		Type  string          `json:"type"`
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal([]byte(properties), &list); err != nil {
		return nil, fmt.Errorf("its annotation olm.properties is no JSON list of properties: %w", err)
	}
	var lowest *Release
	for _, property := range list {
		if property.Type != maxOpenShiftProperty {
			continue
		}
		named, err := maxVersionOf(property.Value)
		if err != nil {
			return nil, fmt.Errorf("its property %s: %w", maxOpenShiftProperty, err)
		}
		if lowest == nil || named.Compare(*lowest) < 0 {
			lowest = &named
		}
	}
	return lowest, nil
}

// maxVersionOf reads a text, or a number as it is written: 4.10 is not 4.1.
func maxVersionOf(value json.RawMessage) (Release, error) {
	var text string
	if err := json.Unmarshal(value, &text); err != nil {
		var number json.Number
		if err := json.Unmarshal(value, &number); err != nil {
			return Release{}, fmt.Errorf("its value is neither a text nor a number")
		}
		text = number.String()
	}
	return ParseRelease(text)
}
