package catalogstore

import (
	"encoding/json"

	"fairlead.dev/fairlead/bundle/packagemanifest"
	"fairlead.dev/fairlead/catalog"
)

// One ClusterServiceVersion that cannot be a bundle is no reason to leave out the others of its package. In the channels it keeps its place, as
// an entry without a bundle: the order of the others depends on it.

// outline is as much of a ClusterServiceVersion as says where in a channel it is.
func (o operator) outline(text []byte) ([]byte, error) {
	var annotated struct {
		Metadata struct{ Annotations map[string]string }
	}
	_ = json.Unmarshal(text, &annotated) // where they are not texts, a range among them is not known
	metadata := map[string]any{"name": o.Metadata.Name}
	if skipRange := annotated.Metadata.Annotations[packagemanifest.SkipRangeAnnotation]; skipRange != "" {
		metadata["annotations"] = map[string]string{packagemanifest.SkipRangeAnnotation: skipRange}
	}
	return json.Marshal(map[string]any{
		"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion", "metadata": metadata,
		"spec": map[string]any{"version": "0.0.0", "replaces": o.Spec.Replaces, "skips": o.Spec.Skips, "install": map[string]string{"strategy": "deployment"}},
	})
}

// Noted reports whether a problem of an index says what the Warnings say.
func Noted(p catalog.Problem) bool {
	return p.Rule == RuleLeftOut || p.Rule == catalog.RuleEntryWithoutBundle && p.Position.File == convertedFile
}
