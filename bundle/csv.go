package bundle

import (
	"encoding/json"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/version"
)

// takeCSV decodes the ClusterServiceVersion of the bundle.
func (in *Inspection) takeCSV(name string, object *unstructured.Unstructured) {
	b := in.Bundle
	b.manifest = object
	csv, err := decodeCSV(object)
	if err != nil {
		in.fail(name, markf(ErrCSVForm, "ClusterServiceVersion %s does not have the form of its kind: %w", object.GetName(), err))
		return
	}
	if want := v1alpha1.GroupVersion.String(); csv.APIVersion != want {
		// Published bundles have other groups by mistake. The kind alone says what is meant, to others as well.
		in.notice(name, fmt.Errorf("ClusterServiceVersion %s: apiVersion %s read as %s", csv.Name, csv.APIVersion, want))
		csv.APIVersion = want
	}
	b.CSV = csv
	b.Name = csv.Name
	if b.Version, err = versionOf(csv); err != nil {
		in.fail(name, err)
	}
}

func decodeCSV(object *unstructured.Unstructured) (*v1alpha1.ClusterServiceVersion, error) {
	install, _, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "install")
	if err := checkQuantities("spec.install", install); err != nil {
		return nil, err
	}
	text, err := json.Marshal(withReleaseText(object.Object))
	if err != nil {
		return nil, fmt.Errorf("write it as JSON: %w", err)
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	return csv, kjson.UnmarshalCaseSensitivePreserveInts(text, csv)
}

// VersionText is the version of the ClusterServiceVersion, build metadata included; empty without one.
func (b *Bundle) VersionText() string {
	if b.CSV == nil {
		return ""
	}
	return b.CSV.Spec.Version.String()
}

// versionOf is the version and release of a ClusterServiceVersion. Before releases existed, a rebuild of a version was
// told apart by its build metadata, together with the annotation olm.substitutesFor.
func versionOf(csv *v1alpha1.ClusterServiceVersion) (version.VersionRelease, error) {
	if csv.Spec.Release.IsZero() && csv.Annotations[v1alpha1.SubstitutesForAnnotation] != "" {
		return version.FromBuild(csv.Spec.Version.Version), nil
	}
	release, err := version.ParseRelease(csv.Spec.Release.String())
	if err != nil {
		return version.VersionRelease{}, fmt.Errorf("ClusterServiceVersion %s: %w", csv.Name, err)
	}
	return version.VersionRelease{Version: csv.Spec.Version.Version, Release: release}, nil
}

// withReleaseText is the ClusterServiceVersion with its release as text. Authors may write it as a number.
func withReleaseText(object map[string]any) map[string]any {
	spec, _ := object["spec"].(map[string]any)
	switch spec["release"].(type) {
	case int64, float64:
		object, spec = maps.Clone(object), maps.Clone(spec)
		spec["release"] = fmt.Sprint(spec["release"])
		object["spec"] = spec
	}
	return object
}
