package bundle

import (
	"strings"

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
	checkInstallModes(csv, b.CSV)
	checkStrategy(csv, b.CSV)
	checkPermissions(csv, b.CSV)
	checkAPIServices(csv, b.CSV)
	checkWebhooks(csv, b.CSV)
	checkCRDs(r, b)
	checkDuplicates(r, b)
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
		checkDependency(r, dependency)
	}
}

func checkDependency(r recorder, d Dependency) {
	switch d.Type {
	case catalog.PropertyPackage:
		need, err := d.Package()
		if err != nil || need.PackageName == "" {
			r.err(RuleDependency, "dependencies", "%s: %s needs packageName and version", d.Type, d.Value)
			return
		}
		if _, err := version.ParseRange(need.Version); err != nil {
			r.err(RuleDependency, "dependencies", "package %s: %v", need.PackageName, err)
		}
	case catalog.PropertyGVK:
		gvk, err := d.GVK()
		if err != nil || gvk.Group == "" || gvk.Version == "" || gvk.Kind == "" {
			r.err(RuleDependency, "dependencies", "%s: %s needs group, version and kind", d.Type, d.Value)
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
			r.warn(RuleSkipRange, annotationField(v1alpha1.SkipRangeAnnotation), "%v", err)
		}
	}
	if _, err := parseAnnotatedProperties(csv.Annotations[propertiesAnnotation]); err != nil {
		r.warn(RuleProperties, annotationField(propertiesAnnotation), "%v; it is ignored", err)
	}
}

func annotationField(key string) string { return "metadata.annotations[" + key + "]" }

// nameErrors says what keeps a name from being that of an object and the value of a label.
func nameErrors(name string) []string {
	return append(validation.IsDNS1123Subdomain(name), validation.IsValidLabelValue(name)...)
}

func checkInstallModes(r recorder, csv *v1alpha1.ClusterServiceVersion) {
	modes, err := v1alpha1.NewInstallModeSet(csv.Spec.InstallModes)
	if err != nil {
		r.err(RuleInstallModes, "spec.installModes", "%v", err)
		return
	}
	for _, supported := range modes {
		if supported {
			return
		}
	}
	r.err(RuleInstallModes, "spec.installModes", "no install mode is supported, so the operator cannot be installed; support at least one")
}
