package tenancy

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
)

// APIs is a set of APIs, each as Kind.version.group.
type APIs map[string]struct{}

// ParseAPIs reads a list as the annotation of an OperatorGroup has it: separated by commas, in any order, with spaces or
// without. What is not Kind.version.group is left out.
func ParseAPIs(list string) APIs {
	apis := APIs{}
	for item := range strings.SplitSeq(strings.ReplaceAll(list, " ", ""), ",") {
		if _, ok := ParseAPI(item); ok {
			apis[item] = struct{}{}
		}
	}
	return apis
}

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
			apis[item] = struct{}{}
		}
	}
	return apis
}

// AnnotatedOn are the APIs that the annotation of a group says it provides.
func AnnotatedOn(group *v1.OperatorGroup) APIs {
	return ParseAPIs(group.Annotations[v1alpha1.ProvidedAPIsAnnotation])
}

// Sorted lists the set.
func (a APIs) Sorted() []string { return slices.Sorted(maps.Keys(a)) }

// String is the set as the annotation has it.
func (a APIs) String() string { return strings.Join(a.Sorted(), ",") }

// Within reports whether all of the set is in another one.
func (a APIs) Within(b APIs) bool {
	for api := range a {
		if _, ok := b[api]; !ok {
			return false
		}
	}
	return true
}
