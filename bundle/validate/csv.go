package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// propertiesAnnotation embeds properties of the bundle in the ClusterServiceVersion.
const propertiesAnnotation = "olm.properties"

// checkCSV checks the ClusterServiceVersion beyond what installation relies on.
func checkCSV(r recorder) {
	for _, f := range r.Manifests {
		if f.Object == nil {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(f.Object.GetAnnotations())) {
			for _, known := range operatorAnnotations {
				if key != known && strings.EqualFold(key, known) {
					r.err(RuleAnnotationCase, r.objectPlace(f.Object).in("metadata.annotations[%s]", key),
						fmt.Sprintf("provided annotation %s uses wrong case and should be %s instead", key, known), "rename it")
				}
			}
		}
	}
	if r.csv == nil {
		return
	}
	at := r.csvPlace()
	// The first missing field of each path is reported.
	object := r.Bundle.AllObjects()[0].Object
	reported := ""
	for _, field := range requiredFields {
		value, found, err := unstructured.NestedFieldNoCopy(object, strings.Split(field, ".")...)
		if err == nil && found && value != nil && value != "" || reported != "" && strings.HasPrefix(field, reported) {
			continue
		}
		reported = field + "."
		r.err(RuleRequiredField, at.in("%s", field), "required field missing", "add it")
	}
	if len(r.csv.Annotations) == 0 {
		r.warn(RuleCSVAnnotations, at.in("metadata"), "annotations not found", "add the annotation alm-examples and those that catalogs show")
	} else {
		checkExamples(r, at)
	}
	if strings.TrimSpace(r.csv.Spec.MinKubeVersion) == "" {
		r.warn(RuleNoMinKube, at.in("spec.minKubeVersion"), "minKubeVersion is not set, so the operator is offered to clusters of any version",
			"set the lowest version that it is tested with")
	}
	for i, mode := range r.csv.Spec.InstallModes {
		if !slices.Contains(installModes, mode.Type) {
			r.warn(RuleModeUnknown, at.in("spec.installModes[%d].type", i), fmt.Sprintf("%q is no install mode, so it counts for nothing", mode.Type),
				fmt.Sprintf("use some of %v", installModes))
		}
	}
	if _, ok := r.csv.Annotations[propertiesAnnotation]; ok {
		r.warn(RulePropertiesInCSV, at.in("metadata.annotations[%s]", propertiesAnnotation), "properties are embedded in an annotation",
			"move them to metadata/properties.yaml")
	}
}

// installModes are all there are.
var installModes = []v1alpha1.InstallModeType{
	v1alpha1.InstallModeTypeOwnNamespace, v1alpha1.InstallModeTypeSingleNamespace, v1alpha1.InstallModeTypeMultiNamespace, v1alpha1.InstallModeTypeAllNamespaces,
}

// requiredFields are those that the API of ClusterServiceVersions demands.
var requiredFields = []string{"spec.displayName", "spec.install", "spec.install.strategy", "spec.install.spec.deployments"}

// operatorAnnotations are the annotations that are known by exactly these names.
var operatorAnnotations = []string{
	v1alpha1.OperatorGroupAnnotation, v1alpha1.OperatorNamespaceAnnotation, v1alpha1.TargetNamespacesAnnotation,
	v1alpha1.ProvidedAPIsAnnotation, v1alpha1.SkipRangeAnnotation,
}
