package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
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
// nil if that is not a CSV. The values of its fields are taken as they are.
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
	fields := map[string]json.RawMessage{ // these three are always there
		"apiServiceDefinitions": json.RawMessage("{}"), "crdDescriptions": json.RawMessage("{}"), "provider": json.RawMessage("{}"),
	}
	for key, value := range rawjson.Members(metadata) {
		if name := strings.ToLower(key); name == "annotations" || name == "labels" {
			set(fields, name, value)
		}
	}
	for key, value := range rawjson.Members(spec) {
		if name, ok := specFields[strings.ToLower(key)]; ok {
			set(fields, name, value)
		}
	}
	return csvMetadataProperty(fields)
}

// set takes a value that says anything.
func set(fields map[string]json.RawMessage, name string, value []byte) {
	switch string(rawjson.AppendCanonical(nil, value)) {
	case "null", `""`, "[]", "{}":
	default:
		fields[name] = value
	}
}

func csvMetadataProperty(fields map[string]json.RawMessage) (*Property, error) {
	value := []byte{'{'}
	for name, field := range fields {
		if len(value) > 1 {
			value = append(value, ',')
		}
		value = append(rawjson.AppendString(value, name), ':')
		value = append(value, field...)
	}
	value = rawjson.AppendCanonical(nil, append(value, '}'))
	if fault := csvMetadataShape.mismatch(value); fault != "" {
		return nil, fmt.Errorf("the CSV cannot be described by an %q property: %s", PropertyCSVMetadata, fault)
	}
	return &Property{Type: PropertyCSVMetadata, Value: value}, nil
}
