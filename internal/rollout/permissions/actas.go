package permissions

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// actsAs is the service account that an object lets act: that of the pods of a workload, or the one whose token a Secret is filled with. It
// is empty for all other objects.
func actsAs(object *unstructured.Unstructured) string {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, fields...)
		return value
	}
	if object.GetKind() == "Secret" && object.GroupVersionKind().Group == "" {
		if name := object.GetAnnotations()["kubernetes.io/service-account.name"]; name != "" && text("type") == "kubernetes.io/service-account-token" {
			return accountSubject(object.GetNamespace(), name)
		}
		return ""
	}
	if _, runs, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers"); !runs {
		return ""
	}
	name := cmp.Or(text("spec", "template", "spec", "serviceAccountName"), text("spec", "template", "spec", "serviceAccount"), "default")
	return accountSubject(object.GetNamespace(), name)
}

// actors are the objects that let accounts act, by their descriptions, which several objects of different groups can share.
func actors(objects []*unstructured.Unstructured) map[string][]string {
	found := map[string][]string{}
	for _, object := range objects {
		if account := actsAs(object); account != "" {
			found[describe(object)] = append(found[describe(object)], account)
		}
	}
	return found
}

// newAccounts are those that an object of later objects lets act, that are not theirs, and that nothing let act before: what such an account
// may do is not known.
func (h *had) newAccounts(later *given, object string) []string {
	added := map[string]bool{}
	acted := slices.Concat(slices.Collect(maps.Values(h.actors))...)
	for _, account := range later.actors[object] {
		if !later.accounts[account] && !slices.Contains(acted, account) {
			added[account] = true
		}
	}
	return slices.Sorted(maps.Keys(added))
}
