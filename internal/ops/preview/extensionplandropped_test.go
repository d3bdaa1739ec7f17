package preview

import (
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestPlanThatDropsACRD says what the controller says: with custom resources it is refused, unless that is exempt.
func TestPlanThatDropsACRD(t *testing.T) {
	const refusal = `validating upgrade for CRD "things.example.com": removal: bundle greeter-operator.v1.1.0 does not have it, so that it would be deleted, but it has 1 custom resource; delete them`
	for name, test := range map[string]struct {
		exempt  string
		empty   bool
		refused bool
		verdict string
	}{
		"custom resources":  {refused: true, verdict: "things.example.com: unsafe\n    removal: bundle"},
		"none":              {empty: true},
		"exempt":            {exempt: "removal", verdict: "things.example.com: unchecked\n    removal: bundle"},
		"a wrong exemption": {exempt: "a b c d", refused: true, verdict: "things.example.com: unsafe"},
	} {
		t.Run(name, func(t *testing.T) {
			e, objects := installed(t, "1.0.0")
			set := objects[0].(*olmv1.ClusterObjectSet)
			set.UID = "set"
			crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "things.example.com",
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, olmv1.GroupVersion.WithKind(olmv1.ClusterObjectSetKind))}},
				Spec: apiextensionsv1.CustomResourceDefinitionSpec{Group: "example.com", Scope: "Namespaced",
					Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"},
					Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}}}
			if test.exempt != "" {
				e.Annotations = map[string]string{revision.ExemptionsKey: test.exempt}
			}
			p := planner(t, append(objects, namespace(), crd)...)
			if !test.empty {
				kinds := schema.GroupVersion{Group: "example.com", Version: "v1"}
				p.Client.Scheme().AddKnownTypeWithName(kinds.WithKind("Thing"), &unstructured.Unstructured{})
				p.Client.Scheme().AddKnownTypeWithName(kinds.WithKind("ThingList"), &unstructured.UnstructuredList{})
				thing := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "apps", "name": "one"}}}
				thing.SetGroupVersionKind(kinds.WithKind("Thing"))
				must.NoError(t, p.Client.Create(t.Context(), thing))
			}
			plan, text := planned(t, p, e)
			refused := strings.Contains(strings.Join(plan.Blocked, "\n"), refusal)
			if name == "a wrong exemption" {
				refused = strings.Contains(strings.Join(plan.Blocked, "\n"), "which is not CHECK [CRD [PATH]]")
			}
			if refused != test.refused || !test.refused && len(plan.Blocked) > 0 {
				t.Errorf("in the way: %q", plan.Blocked)
			}
			if test.verdict != "" && !strings.Contains(text, test.verdict) || test.verdict == "" && strings.Contains(text, "things.example.com:") {
				t.Errorf("the text is\n%s", text)
			}
		})
	}
}
