package bundle

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func TestStepsOfCSV(t *testing.T) {
	tests := map[string]struct {
		target      StepTarget
		replaces    string
		found       bool
		annotations string
	}{
		"a first installation": {target: StepTarget{Namespace: "ns"}, annotations: `{}`},
		"an upgrade": {
			target:   StepTarget{Namespace: "ns", Replaces: "op.v0.5.0", Properties: []catalog.Property{{Type: "a", Value: []byte(`{"b":1}`)}}},
			replaces: "op.v0.5.0", found: true, annotations: `{"properties":[{"type":"a","value":{"b":1}}]}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := loadTest(t, nil)
			b.CSV.Spec.Replaces = "op.v0.9.0"
			b.CSV.Status.Phase = v1alpha1.CSVPhaseSucceeded
			steps := must.Value(Steps(b, tc.target))(t)
			replaces, found, _ := unstructured.NestedString(steps[0].Object, "spec", "replaces")
			if replaces != tc.replaces || found != tc.found {
				t.Errorf("spec.replaces %q (there: %v), want %q (%v)", replaces, found, tc.replaces, tc.found)
			}
			must.Equal(t, "annotation", steps[0].GetAnnotations()["operatorframework.io/properties"], tc.annotations)
			if _, there := steps[0].Object["status"]; there || steps[0].GetNamespace() != "ns" {
				t.Errorf("namespace %q, status there: %v", steps[0].GetNamespace(), there)
			}
			if b.CSV.Spec.Replaces != "op.v0.9.0" || b.CSV.Namespace != "" || b.CSV.Annotations != nil {
				t.Error("the ClusterServiceVersion of the bundle was changed")
			}
		})
	}
}

// TestStepsShareNothing shows that a caller may change the steps, as controllers do when they set owners.
func TestStepsShareNothing(t *testing.T) {
	b := loadTest(t, map[string]string{"manifests/x.yaml": configMap("x")})
	before := asJSON(t, b.AllObjects())
	steps := must.Value(PlanSteps(b, StepTarget{Namespace: "ns"}))(t)
	for _, step := range steps {
		step.Object.SetNamespace("changed")
		step.Object.SetLabels(map[string]string{"changed": ""})
		if spec, ok := step.Object.Object["spec"].(map[string]any); ok {
			clear(spec)
		}
	}
	if after := asJSON(t, b.AllObjects()); after != before || b.CSV.Spec.DisplayName != "Op" {
		t.Errorf("the bundle was changed:\n%s\n%s", before, after)
	}
}

func TestStepsRefuseBadProperties(t *testing.T) {
	_, err := PlanSteps(loadTest(t, nil), StepTarget{Properties: []catalog.Property{{Type: "a", Value: []byte("{")}}})
	wantError(t, err, "make steps of bundle op.v1.0.0", "operatorframework.io/properties")
}
