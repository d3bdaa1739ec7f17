package tenancy

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// APIs is a set of APIs, each as Kind.version.group.
type APIs = sets.Set[string]

// ParseAPI reads Kind.version.group.
func ParseAPI(item string) (schema.GroupVersionKind, bool) {
	kind, rest, _ := strings.Cut(item, ".")
	version, group, _ := strings.Cut(rest, ".")
	return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}, kind != "" && version != "" && group != ""
}

// ProvidedBy are the APIs that an operator owns. What could not be told apart in the annotation of its group is left out.
func ProvidedBy(csv *v1alpha1.ClusterServiceVersion) APIs {
	apis := APIs{}
	for _, api := range csv.ProvidedAPIs() {
		item := api.Kind + "." + api.Version + "." + api.Group
		if again, ok := ParseAPI(item); ok && again == api && !strings.ContainsAny(item, ", ") {
			apis.Insert(item)
		}
	}
	return apis
}

// AnnotatedOn are the APIs that the annotation of a group says it provides: separated by commas, in any order, with spaces or without. What is not
// Kind.version.group is left out.
func AnnotatedOn(group *v1.OperatorGroup) APIs {
	apis := APIs{}
	for item := range strings.SplitSeq(strings.ReplaceAll(group.Annotations[v1alpha1.ProvidedAPIsAnnotation], " ", ""), ",") {
		if _, ok := ParseAPI(item); ok {
			apis.Insert(item)
		}
	}
	return apis
}
