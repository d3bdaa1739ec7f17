package bundle

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/catalog"
)

// ProvidedAPIs are the APIs of the bundle: each version of the CRDs in it, served or not, and the aggregated APIs that
// its ClusterServiceVersion owns. They are sorted by group, kind and version, each once.
func (b *Bundle) ProvidedAPIs() []catalog.GVK {
	var out []catalog.GVK
	for _, object := range b.Objects {
		if object.GetKind() == crdKind {
			out = append(out, crdAPIs(object)...)
		}
	}
	for _, d := range b.CSV.Spec.APIServiceDefinitions.Owned {
		out = append(out, catalog.GVK{Group: d.Group, Version: d.Version, Kind: d.Kind})
	}
	return sortAPIs(out)
}

// RequiredAPIs are the APIs that the ClusterServiceVersion requires, in the order of ProvidedAPIs. CRDs whose name has
// no dot have no group and are left out; Validate reports them.
func (b *Bundle) RequiredAPIs() []catalog.GVK {
	var out []catalog.GVK
	for _, gvk := range b.CSV.RequiredAPIs() {
		out = append(out, catalog.GVK(gvk))
	}
	return sortAPIs(out)
}

// crdAPIs are the APIs of a CRD of either version of that kind.
func crdAPIs(crd *unstructured.Unstructured) []catalog.GVK {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "kind")
	var out []catalog.GVK
	if single, _, _ := unstructured.NestedString(crd.Object, "spec", "version"); single != "" {
		out = append(out, catalog.GVK{Group: group, Version: single, Kind: kind})
	}
	versions, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	list, _ := versions.([]any)
	for _, item := range list {
		entry, _ := item.(map[string]any)
		if name, _ := entry["name"].(string); name != "" {
			out = append(out, catalog.GVK{Group: group, Version: name, Kind: kind})
		}
	}
	return out
}

func sortAPIs(apis []catalog.GVK) []catalog.GVK {
	slices.SortFunc(apis, func(a, b catalog.GVK) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
	return slices.Compact(apis)
}
