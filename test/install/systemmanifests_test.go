package install

import (
	"slices"
	"testing"

	"fairlead.dev/fairlead/internal/ops"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// systemImage is what the chart and the command are given.
const systemImage = "registry.example.com/fairlead-manager:v1"

// TestTheCommandInstallsTheSame: what fairlead system install applies is what the chart makes with the same choices, but for the marks by which it finds its
// objects again, and the CustomResourceDefinitions, which Helm takes from a directory.
func TestTheCommandInstallsTheSame(t *testing.T) {
	for name, test := range map[string]struct {
		options ops.SystemOptions
		values  func(map[string]any)
	}{
		"as it comes":      {ops.SystemOptions{}, func(map[string]any) {}},
		"the console":      {ops.SystemOptions{Console: true}, consoleOn(nil)},
		"v0 alone":         {ops.SystemOptions{APIs: []string{"v0"}}, func(v map[string]any) { v["apis"] = []any{"v0"} }},
		"v1 alone":         {ops.SystemOptions{APIs: []string{"v1"}}, func(v map[string]any) { v["apis"] = []any{"v1"} }},
		"three, elsewhere": {ops.SystemOptions{Namespace: "elsewhere", Replicas: 3}, func(v map[string]any) { v["namespace"], v["replicas"] = "elsewhere", 3 }},
		"with flags":       {ops.SystemOptions{Args: []string{"--catalog-pods"}}, func(v map[string]any) { v["extraArgs"] = []any{"--catalog-pods"} }},
	} {
		t.Run(name, func(t *testing.T) {
			o := test.options
			if o.Image = systemImage; o.Namespace == "" {
				o.Namespace = "olm"
			}
			if o.Replicas = max(o.Replicas, 2); len(o.APIs) == 0 {
				o.APIs = []string{"v0", "v1"}
			}
			made := must.Value(ops.SystemManifests(o))(t)
			var definitions []string
			made = slices.DeleteFunc(made, func(u *unstructured.Unstructured) bool {
				if u.GetKind() == "CustomResourceDefinition" {
					definitions = append(definitions, u.GetName())
					return true
				}
				return false
			})
			must.Equal(t, "CustomResourceDefinitions", len(definitions), 11)
			for _, u := range made {
				unmarked(u)
			}
			fromChart := chart(t, func(v map[string]any) {
				v["image"] = map[string]any{"repository": "registry.example.com/fairlead-manager", "tag": "v1", "digest": "", "pullPolicy": "IfNotPresent"}
				test.values(v)
			})
			theSame(t, plain(t, made), plain(t, fromChart))
		})
	}
}

// unmarked takes the label and the annotations away by which the command finds its objects again.
func unmarked(u *unstructured.Unstructured) {
	unstructured.RemoveNestedField(u.Object, "metadata", "labels", "operators.fairlead.dev/installed-by")
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", "operators.fairlead.dev/install-options")
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", "operators.fairlead.dev/installed-version")
	for _, field := range []string{"labels", "annotations"} {
		if m, _, _ := unstructured.NestedMap(u.Object, "metadata", field); len(m) == 0 {
			unstructured.RemoveNestedField(u.Object, "metadata", field)
		}
	}
}

// plain gives numbers one type, whoever has decoded them.
func plain(t *testing.T, all []*unstructured.Unstructured) []*unstructured.Unstructured {
	t.Helper()
	out := make([]*unstructured.Unstructured, len(all))
	for i, u := range all {
		text := must.Value(u.MarshalJSON())(t)
		out[i] = &unstructured.Unstructured{}
		must.NoError(t, out[i].UnmarshalJSON(text))
	}
	return out
}
