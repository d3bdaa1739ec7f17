package bench

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/publicdata"
)

// everyClusterHas are the APIs of what bundles may bring.
var everyClusterHas = []string{"v1", "rbac.authorization.k8s.io/v1", "apiextensions.k8s.io/v1"}

// globalBundles are public bundles, each of another package, that can watch all namespaces and need nothing but what
// they bring.
func globalBundles(b *testing.B, count int) []*bundle.Bundle {
	b.Helper()
	trees := publicdata.BundleTrees(b)
	packages, definitions := map[string]bool{}, map[string]bool{}
	var out []*bundle.Bundle
	for _, key := range slices.Sorted(maps.Keys(trees)) {
		loaded, err := bundle.Load(trees[key])
		if err != nil || packages[loaded.Package] || !selfContained(loaded, definitions) {
			continue
		}
		packages[loaded.Package] = true
		for _, o := range loaded.Objects {
			definitions[o.GetName()] = true
		}
		if out = append(out, loaded); len(out) == count {
			return out
		}
	}
	b.Fatalf("only %d public bundles can be installed for all namespaces by themselves, want %d", len(out), count)
	return nil
}

// selfContained tells whether a bundle can be installed beside others, whose definitions are taken.
func selfContained(operator *bundle.Bundle, taken map[string]bool) bool {
	spec := &operator.CSV.Spec
	everywhere := slices.ContainsFunc(spec.InstallModes, func(m v1alpha1.InstallMode) bool {
		return m.Type == v1alpha1.InstallModeTypeAllNamespaces && m.Supported
	})
	needs := len(spec.CustomResourceDefinitions.Required) + len(spec.WebhookDefinitions) + len(spec.NativeAPIs) +
		len(spec.APIServiceDefinitions.Owned) + len(spec.APIServiceDefinitions.Required)
	if !everywhere || needs > 0 || len(spec.CustomResourceDefinitions.Owned) == 0 {
		return false
	}
	return !slices.ContainsFunc(operator.Objects, func(o *unstructured.Unstructured) bool {
		_, converts, _ := unstructured.NestedMap(o.Object, "spec", "conversion")
		return converts || taken[o.GetName()] || !slices.Contains(everyClusterHas, o.GetAPIVersion())
	})
}
