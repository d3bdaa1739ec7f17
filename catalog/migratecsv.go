package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// specFields are the fields of a CSV's spec that its metadata has, by the name
// that they have there.
var specFields = map[string]string{
	"apiservicedefinitions":     "apiServiceDefinitions",
	"customresourcedefinitions": "crdDescriptions",
	"description":               "description",
	"displayname":               "displayName",
	"installmodes":              "installModes",
	"keywords":                  "keywords",
	"links":                     "links",
	"maintainers":               "maintainers",
	"maturity":                  "maturity",
	"minkubeversion":            "minKubeVersion",
	"nativeapis":                "nativeAPIs",
	"provider":                  "provider",
}

// csvMetadata makes an olm.csv.metadata from the value of an olm.bundle.object,
// nil if that is not a CSV.
func csvMetadata(object json.RawMessage) (*Property, error) {
	data, _, fault := bundleObject(object)
	if fault != "" {
		return nil, errors.New(fault)
	}
	manifest, fault := manifestJSON(data, Limits{}.withDefaults())
	if fault != "" {
		return nil, errors.New(fault)
	}
	var metadata, spec []byte
	isCSV := false
	for key, value := range rawjson.Members(manifest) {
		switch strings.ToLower(key) {
		case "kind":
			isCSV = rawjson.String(value) == "ClusterServiceVersion"
		case "metadata":
			metadata = value
		case "spec":
			spec = value
		}
	}
	if !isCSV {
		return nil, nil
	}
	fields := map[string][]byte{}
	for key, value := range rawjson.Members(metadata) {
		if name := strings.ToLower(key); name == "annotations" || name == "labels" {
			fields[name] = value
		}
	}
	for key, value := range rawjson.Members(spec) {
		if name, ok := specFields[strings.ToLower(key)]; ok {
			fields[name] = value
		}
	}
	return csvMetadataProperty(fields)
}

func csvMetadataProperty(fields map[string][]byte) (*Property, error) {
	value := []byte{'{'}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if len(value) > 1 {
			value = append(value, ',')
		}
		value = append(rawjson.AppendString(value, name), ':')
		value = append(value, fields[name]...)
	}
	value = append(value, '}')
	if fault := csvMetadataShape.mismatch(value); fault != "" {
		return nil, fmt.Errorf("the CSV cannot be described by an %q property: %s", PropertyCSVMetadata, fault)
	}
	var typed csvDescription
	if err := json.Unmarshal(value, &typed); err != nil {
		return nil, fmt.Errorf("the CSV cannot be described by an %q property: %w", PropertyCSVMetadata, err)
	}
	text, err := json.Marshal(typed)
	if err != nil {
		return nil, fmt.Errorf("write the %q property of the CSV: %w", PropertyCSVMetadata, err)
	}
	return &Property{Type: PropertyCSVMetadata, Value: rawjson.AppendCanonical(nil, text)}, nil
}
