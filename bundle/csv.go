package bundle

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/version"
)

// takeCSV decodes the ClusterServiceVersion of the bundle.
func (in *Inspection) takeCSV(name string, object *unstructured.Unstructured) {
	b := in.Bundle
	b.manifest = object
	content := object.Object
	spec, _ := content["spec"].(map[string]any)
	switch release := spec["release"].(type) {
	case int64, float64: // authors may write the text as a number
		content, spec = maps.Clone(content), maps.Clone(spec)
		content["spec"], spec["release"] = spec, fmt.Sprint(release)
	}
	csv := &v1alpha1.ClusterServiceVersion{}
	err := checkQuantities("spec.install", spec["install"])
	if err == nil {
		var text []byte
		if text, err = json.Marshal(content); err == nil {
			err = kjson.UnmarshalCaseSensitivePreserveInts(text, csv)
		}
	}
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
	if csv.Spec.Release.IsZero() && csv.Annotations[v1alpha1.SubstitutesForAnnotation] != "" {
		// Before releases existed, a rebuild of a version was told apart by its build metadata, together with this annotation.
		b.Version = version.FromBuild(csv.Spec.Version.Version)
		return
	}
	release, err := version.ParseRelease(csv.Spec.Release.String())
	if err != nil {
		in.fail(name, fmt.Errorf("ClusterServiceVersion %s: %w", csv.Name, err))
		return
	}
	b.Version = version.VersionRelease{Version: csv.Spec.Version.Version, Release: release}
}

// VersionText is the version of the ClusterServiceVersion, build metadata included; empty without one.
func (b *Bundle) VersionText() string {
	if b.CSV == nil {
		return ""
	}
	return b.CSV.Spec.Version.String()
}

// maxNumberText is the length of the longest text of a number that is read as a quantity.
const maxNumberText = 1000

// tinyNumber matches numbers that no quantity can tell from nothing. Reading one of them as a quantity takes time with its exponent: 3 s for
// 1e-9999999, and more than minutes for 1e-999999999.
var tinyNumber = regexp.MustCompile(`^[+-]?[0-9.]*[eE]-[0-9]{4,}$`)

// checkQuantities refuses texts whose reading as quantities would take long, anywhere in a value.
func checkQuantities(field string, value any) error {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if err := checkQuantities(field+"."+key, value[key]); err != nil {
				return err
			}
		}
	case []any:
		for i, item := range value {
			if err := checkQuantities(fmt.Sprintf("%s[%d]", field, i), item); err != nil {
				return err
			}
		}
	case string:
		if len(value) > maxNumberText && strings.Trim(value, "+-.0123456789eE") == "" {
			return fmt.Errorf("%s: a number of %d characters; write it with %d at most", field, len(value), maxNumberText)
		}
		if tinyNumber.MatchString(value) {
			return fmt.Errorf("%s: %.40q is too small for a number; write 0", field, value)
		}
	}
	return nil
}
