package bundle

import (
	"path"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// Media types of bundles that are not understood here, but known.
const (
	MediaTypeHelm  = "helm"
	MediaTypePlain = "plain"
)

// DetectMediaType tells what kind of bundle a directory of manifests is for: a Helm chart, a registry+v1 bundle, or
// plain manifests. It is false when none of the files is YAML or JSON.
func DetectMediaType(files []File) (string, bool) {
	found := ""
	for _, f := range files {
		if !isManifestName(f.Name) {
			continue
		}
		value, _, err := decodeValue(file{data: f.Data}, defaultLimits)
		object, ok := value.(map[string]any)
		switch {
		case err != nil || !ok:
			continue
		case path.Base(f.Name) == "Chart.yaml" && isChart(object):
			return MediaTypeHelm, true
		case object["kind"] == v1alpha1.ClusterServiceVersionKind:
			found = MediaType
		case found == "":
			found = MediaTypePlain
		}
	}
	return found, found != ""
}

// isChart says whether an object is the description of a chart.
func isChart(object map[string]any) bool {
	for _, key := range []string{"apiVersion", "name", "version"} {
		if text, ok := object[key].(string); !ok || text == "" {
			return false
		}
	}
	return true
}
