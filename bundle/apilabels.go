package bundle

import (
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// APILabels are the labels by which ClusterServiceVersions are found that provide or need an API.
func APILabels(csv *v1alpha1.ClusterServiceVersion) map[string]string {
	out := map[string]string{}
	add := func(kinds []schema.GroupVersionKind, value string) {
		for _, kind := range kinds {
			out[v1alpha1.APILabelPrefix+GVKHash(catalog.GVK{Group: kind.Group, Version: kind.Version, Kind: kind.Kind})] = value
		}
	}
	add(csv.RequiredAPIs(), v1alpha1.APILabelRequired)
	add(csv.ProvidedAPIs(), v1alpha1.APILabelProvided)
	return out
}
