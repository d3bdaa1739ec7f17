package validate

import (
	"maps"
	"path"
	"slices"
	"testing"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/publicdata"
	"fairlead.dev/fairlead/test/sweep"
)

// TestRealBundles judges all public bundles. Those that were published with a mistake are known.
func TestRealBundles(t *testing.T) {
	const image = "related-image" // oci://… is no reference to an image
	known := map[string]bundle.Rule{
		"kuadrant-operator/0.7.2": image, "kuadrant-operator/0.10.0": image, "kuadrant-operator/0.11.0": image, "kuadrant-operator/0.11.1": image,
	}
	trees := publicdata.BundleTrees(t)
	names := slices.Sorted(maps.Keys(trees))
	for i, name := range names {
		if last := i+1 == len(names) || path.Dir(names[i+1]) != path.Dir(name); !last && known[name] == "" && !sweep.Whole() {
			continue // every day one bundle of each package, and those with findings
		}
		report := must.Value(Run(t.Context(), bundle.Inspect(trees[name]), Options{}))(t)
		errors := report.Errors()
		if rule, ok := known[name]; ok {
			if len(errors) == 0 || slices.ContainsFunc(errors, func(f Finding) bool { return f.Rule != rule || f.Line == 0 }) {
				t.Errorf("%s: %v, want errors of %s with their line", name, errors, rule)
			}
			continue
		}
		must.Empty(t, name, errors)
	}
}
