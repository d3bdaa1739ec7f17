package bundle

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
)

// Described is an error with all that a catalog would say of the bundle in another way than its author, or not at all: APIs that the
// ClusterServiceVersion owns and the bundle does not define, requires and does not name, a version that is not written as one, manifests
// without apiVersion. Installing such a bundle may work, with what is there; in a catalog it would be described wrongly and silently. The
// warnings are about what counts for nothing.
func (b *Bundle) Described() (warnings []string, err error) {
	var problems []string
	findings := Findings{}
	checkCRDs(recorder{findings: &findings}, b)
	for _, f := range findings {
		if f.Rule == RuleOwnedCRD || f.Rule == RuleRequiredCRD {
			problems = append(problems, fmt.Sprintf("%s: %s: %s", f.Object, f.Field, f.Message))
		}
	}
	if problem := b.VersionProblem(); problem != "" {
		problems = append(problems, fmt.Sprintf("%s %s: spec.version: %s", v1alpha1.ClusterServiceVersionKind, b.Name, problem))
	}
	for _, file := range b.incomplete {
		problems = append(problems, file+": the manifest has a kind and no apiVersion, so it is left out; add its apiVersion, or remove the file")
	}
	if _, err := parseAnnotatedProperties(b.CSV.Annotations[propertiesAnnotation]); err != nil {
		warnings = append(warnings, fmt.Sprintf("%s %s: %v; it is ignored", v1alpha1.ClusterServiceVersionKind, b.Name, err))
	}
	if len(problems) == 0 {
		return warnings, nil
	}
	return warnings, fmt.Errorf("describe bundle %s for a catalog: %s", b.Name, strings.Join(problems, "\n"))
}

// VersionProblem is what keeps a catalog, whose versions have three numbers, from having the version as it is written, and after a
// semicolon what to do; empty when nothing does. Where the author declares the package and its version, that of the ClusterServiceVersion is
// not described.
func (b *Bundle) VersionProblem() string {
	declares := func(p catalog.Property) bool { return p.Type == catalog.PropertyPackage }
	if slices.ContainsFunc(b.Properties, declares) || slices.ContainsFunc(b.annotatedProperties(), declares) {
		return ""
	}
	text, _, _ := unstructured.NestedString(b.manifest.Object, "spec", "version")
	if text == "" {
		return "there is none; add the version of the operator, such as 1.0.0"
	}
	if canonical := b.CSV.Spec.Version.String(); text != canonical {
		return fmt.Sprintf("%q is no semantic version; write it as %s", text, canonical)
	}
	return ""
}
