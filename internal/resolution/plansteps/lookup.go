package plansteps

import (
	"encoding/json"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution"

	corev1 "k8s.io/api/core/v1"
)

// Lookup records where the objects of a bundle come from, so that they can be had again when the content store has lost them. path is
// the image of the bundle; by digest, once that is known. from is the image of the catalog, as that is served; its Ref is empty for a catalog
// of another origin.
func Lookup(choice resolution.Choice, path string, from image.Origin) v1alpha1.BundleLookup {
	record := struct {
		Properties []catalog.Property `json:"properties,omitempty"`
		Origin     *Origin            `json:"operators.fairlead.dev/origin,omitempty"`
	}{choice.Bundle.Properties, originOf(choice.Bundle.Image, path, from)}
	properties, err := json.Marshal(record)
	if err != nil {
		properties = []byte("{}") // a property that is not JSON was refused when the catalog was loaded
	}
	return v1alpha1.BundleLookup{
		Path: path, Identifier: choice.Bundle.Name, Replaces: choice.Replaces, Properties: string(properties),
		CatalogSourceRef: &corev1.ObjectReference{Namespace: choice.Catalog.Namespace, Name: choice.Catalog.Name},
	}
}
