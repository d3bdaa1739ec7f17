package bundle

import (
	"encoding/json"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// PackageOf is the package that an installed ClusterServiceVersion comes from, as the properties recorded on it tell; empty when they
// do not.
func PackageOf(csv *v1alpha1.ClusterServiceVersion) string {
	var annotation struct {
		Properties []catalog.Property `json:"properties"`
	}
	if json.Unmarshal([]byte(csv.Annotations[v1alpha1.PropertiesAnnotation]), &annotation) != nil {
		return ""
	}
	for _, property := range annotation.Properties {
		var value struct {
			Name string `json:"packageName"`
		}
		if property.Type == catalog.PropertyPackage && json.Unmarshal(property.Value, &value) == nil {
			return value.Name
		}
	}
	return ""
}
