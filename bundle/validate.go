package bundle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// Validate checks what the installation of a bundle relies on. All rules are checked, whatever the others find.
func Validate(b *Bundle) Findings {
	findings := Findings{}
	r := recorder{findings: &findings}
	checkMetadata(r.about("bundle %s", b.Name), b)
	csv := r.about("%s %s", v1alpha1.ClusterServiceVersionKind, b.Name)
	checkIdentity(csv, b.CSV)
	modes, err := v1alpha1.NewInstallModeSet(b.CSV.Spec.InstallModes)
	switch {
	case err != nil:
		csv.err(RuleInstallModes, "spec.installModes", "%v", err)
	case !slices.Contains(slices.Collect(maps.Values(modes)), true):
		csv.err(RuleInstallModes, "spec.installModes", "no install mode is supported, so the operator cannot be installed; support at least one")
	}
	checkStrategy(csv, b.CSV)
	for i, permission := range b.CSV.Spec.InstallStrategy.StrategySpec.Permissions {
		checkPermission(csv, fmt.Sprintf("spec.install.spec.permissions[%d]", i), permission, false)
	}
	for i, permission := range b.CSV.Spec.InstallStrategy.StrategySpec.ClusterPermissions {
		checkPermission(csv, fmt.Sprintf("spec.install.spec.clusterPermissions[%d]", i), permission, true)
	}
	for i, d := range b.CSV.Spec.APIServiceDefinitions.Owned {
		if err := forbiddenGroup(d.Group); err != nil {
			csv.err(RuleCRDGroup, fmt.Sprintf("spec.apiservicedefinitions.owned[%d].group", i), "%v", err)
		}
		checkServedBy(csv, b.CSV, fmt.Sprintf("spec.apiservicedefinitions.owned[%d].deploymentName", i), d.DeploymentName)
	}
	checkWebhooks(csv, b.CSV)
	checkCRDs(r, b)
	// Find manifests for the same object and names that no object can have.
	seen := map[string]bool{}
	for _, object := range b.Objects {
		gvk := object.GroupVersionKind()
		about := r.about("%s %s", gvk.Kind, object.GetName())
		key := gvk.GroupKind().String() + "/" + object.GetName()
		if seen[key] {
			about.err(RuleObjectTwice, "", "another manifest has the same kind and name; keep one of them")
		}
		seen[key] = true
		if gvk.Group == "rbac.authorization.k8s.io" {
			continue // these names may hold nearly anything
		}
		for _, message := range validation.IsDNS1123Subdomain(object.GetName()) {
			about.err(RuleObjectName, "metadata.name", "%s", message)
		}
	}
	return findings
}

// checkMetadata checks the metadata files, which a bundle of inline manifests does not have.
func checkMetadata(r recorder, b *Bundle) {
	if b.Annotations != nil {
		if b.Package == "" {
			r.err(RulePackage, "annotations", "%s is missing; name the package", AnnotationPackage)
		}
		if len(b.Channels) == 0 {
			r.warn(RuleChannels, "annotations", "%s is missing; name the channels", AnnotationChannels)
		}
	}
	for _, dependency := range b.Dependencies {
		switch dependency.Type {
		case catalog.PropertyPackage:
			need, err := dependency.Package()
			if err != nil || need.PackageName == "" {
				r.err(RuleDependency, "dependencies", "%s: %s needs packageName and version", dependency.Type, dependency.Value)
				continue
			}
			if _, err := version.ParseRange(need.Version); err != nil {
				r.err(RuleDependency, "dependencies", "package %s: %v", need.PackageName, err)
			}
		case catalog.PropertyGVK:
			gvk, err := dependency.GVK()
			if err != nil || gvk.Group == "" || gvk.Version == "" || gvk.Kind == "" {
				r.err(RuleDependency, "dependencies", "%s: %s needs group, version and kind", dependency.Type, dependency.Value)
			}
		}
	}
}

// checkIdentity checks the name and the versions of the ClusterServiceVersion. Its name is used as a label value.
func checkIdentity(r recorder, csv *v1alpha1.ClusterServiceVersion) {
	for _, message := range nameErrors(csv.Name) {
		r.err(RuleCSVName, "metadata.name", "%s", message)
	}
	if csv.Spec.Replaces != "" {
		for _, message := range nameErrors(csv.Spec.Replaces) {
			r.err(RuleReplaces, "spec.replaces", "%s", message)
		}
	}
	if csv.Spec.MinKubeVersion != "" {
		if _, err := version.Parse(strings.TrimSpace(csv.Spec.MinKubeVersion)); err != nil {
			r.err(RuleMinKubeVersion, "spec.minKubeVersion", "%v", err)
		}
	}
	if skipRange := csv.Annotations[v1alpha1.SkipRangeAnnotation]; skipRange != "" {
		if _, err := version.ParseRange(skipRange); err != nil {
			r.warn(RuleSkipRange, "metadata.annotations["+v1alpha1.SkipRangeAnnotation+"]", "%v", err)
		}
	}
	if _, err := parseAnnotatedProperties(csv.Annotations[propertiesAnnotation]); err != nil {
		r.warn(RuleProperties, "metadata.annotations["+propertiesAnnotation+"]", "%v; it is ignored", err)
	}
}

// nameErrors says what keeps a name from being that of an object and the value of a label.
func nameErrors(name string) []string {
	return append(validation.IsDNS1123Subdomain(name), validation.IsValidLabelValue(name)...)
}

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
	annotated, _ := parseAnnotatedProperties(b.CSV.Annotations[propertiesAnnotation])
	declares := func(p catalog.Property) bool { return p.Type == catalog.PropertyPackage }
	if slices.ContainsFunc(slices.Concat(b.Properties, annotated), declares) {
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
