package catalog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// requiredAPIs are the parts of a CSV that name the APIs which it requires. What is not written as it has to be says nothing.
type requiredAPIs struct {
	crds, services struct {
		Required []struct{ Name, Group, Version, Kind string }
	}
}

// manifestRequires are the APIs that a manifest requires if it is a CSV.
func manifestRequires(manifest []byte) []GVK {
	if !bytes.Contains(manifest, []byte("ClusterServiceVersion")) || !mayRequire(manifest) {
		return nil
	}
	var found requiredAPIs
	isCSV := false
	for key, value := range rawjson.Members(manifest) {
		switch {
		case strings.EqualFold(key, "kind"):
			isCSV = rawjson.String(value) == "ClusterServiceVersion"
		case strings.EqualFold(key, "spec") && rawjson.Kind(value) == "object":
			for key, part := range rawjson.Members(value) {
				found.read(key, "customResourceDefinitions", part)
			}
		}
	}
	if !isCSV {
		return nil
	}
	return found.gvks()
}

// mayRequire spares reading the many that cannot require anything: most CSVs have no such key.
func mayRequire(content []byte) bool {
	return bytes.Contains(content, []byte(`"required"`)) || bytes.Contains(content, []byte(`\u00`))
}

// read reads a part if it is one of the two; crds is what that of the CustomResourceDefinitions is called.
func (r *requiredAPIs) read(key, crds string, part []byte) {
	switch {
	case strings.EqualFold(key, crds):
		_ = json.Unmarshal(part, &r.crds)
	case strings.EqualFold(key, "apiServiceDefinitions"):
		_ = json.Unmarshal(part, &r.services)
	}
}

// gvks are the APIs, each once. The group of a CustomResourceDefinition is what follows the first dot of its name.
func (r *requiredAPIs) gvks() []GVK {
	var all []GVK
	add := func(g GVK) {
		if g.missing() == "" && !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	for _, d := range r.crds.Required {
		_, group, _ := strings.Cut(d.Name, ".")
		add(GVK{group, d.Version, d.Kind})
	}
	for _, d := range r.services.Required {
		add(GVK{d.Group, d.Version, d.Kind})
	}
	return all
}
