package catalogserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

// kindCSV is the kind that describes an operator.
const kindCSV = "ClusterServiceVersion"

// addManifests adds what the catalog itself holds of a bundle. Where that is no ClusterServiceVersion but what one said about the
// operator, one is made of it, which is enough to show the operator and never to install it.
func addManifests(b *registry.Bundle, x *catalog.Index, at place) error {
	manifests, err := x.Manifests(at.entry.Bundle)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		b.Object = append(b.Object, string(m))
		if b.CsvJson != "" || !bytes.Contains(m, []byte(kindCSV)) {
			continue
		}
		var object struct {
			Kind string `json:"kind"`
		}
		if json.Unmarshal(m, &object) == nil && object.Kind == kindCSV {
			b.CsvJson = b.Object[len(b.Object)-1]
		}
	}
	if b.CsvJson != "" {
		return nil
	}
	metadata, err := x.CSVMetadata(at.entry.Bundle)
	if err != nil || metadata == nil {
		return err
	}
	if b.CsvJson, err = describe(at, metadata); err != nil {
		return err
	}
	if len(b.Object) == 0 {
		b.Object = []string{b.CsvJson}
	}
	return nil
}

// specKeys are the keys of olm.csv.metadata and what they are called in the spec of a ClusterServiceVersion.
var specKeys = map[string]string{
	"apiServiceDefinitions": "apiservicedefinitions",
	"crdDescriptions":       "customresourcedefinitions",
	"description":           "description",
	"displayName":           "displayName",
	"installModes":          "installModes",
	"keywords":              "keywords",
	"links":                 "links",
	"maintainers":           "maintainers",
	"maturity":              "maturity",
	"minKubeVersion":        "minKubeVersion",
	"nativeAPIs":            "nativeAPIs",
	"provider":              "provider",
}

// describe makes a ClusterServiceVersion of the olm.csv.metadata of a bundle.
func describe(at place, metadata json.RawMessage) (string, error) {
	given, err := split(metadata)
	if err != nil {
		return "", fmt.Errorf("decode its property %s: %w", catalog.PropertyCSVMetadata, err)
	}
	none := json.RawMessage("{}")
	about := fields{}
	// What any ClusterServiceVersion has when a program writes it, if only as nothing: readers cannot do without some of it, and compare
	// the rest with what other servers of the same catalog answer.
	spec := fields{
		"install":               json.RawMessage(`{"spec":{"deployments":null},"strategy":"deployment"}`),
		"apiservicedefinitions": none, "customresourcedefinitions": none, "provider": none,
		"cleanup": json.RawMessage(`{"enabled":false}`), "displayName": json.RawMessage(`""`),
	}
	for key, value := range given {
		name, inSpec := specKeys[key]
		switch {
		case string(value) == "null": // as good as absent
		case inSpec:
			spec[name] = value
		case key == "annotations" || key == "labels":
			about[key] = value
		}
	}
	err = errors.Join(about.set("name", at.entry.Name), spec.set("version", at.entry.Bundle.VersionText))
	// Add what the metadata does not say and the catalog says elsewhere.
	if text := string(spec["description"]); at.pkg.Description != "" && (text == "" || text == `""`) {
		err = errors.Join(err, spec.set("description", at.pkg.Description))
	}
	if icon := at.pkg.Icon; icon != nil {
		err = errors.Join(err, spec.set("icon", []*catalog.Icon{icon}))
	}
	if images := at.entry.Bundle.RelatedImages; len(images) > 0 {
		err = errors.Join(err, spec.set("relatedImages", images))
	}
	csv := fields{
		"apiVersion": json.RawMessage(`"operators.coreos.com/v1alpha1"`), "kind": json.RawMessage(`"` + kindCSV + `"`),
		"metadata": about.text(), "spec": spec.text(), "status": json.RawMessage(`{"cleanup":{}}`),
	}
	return string(csv.text()), err
}
