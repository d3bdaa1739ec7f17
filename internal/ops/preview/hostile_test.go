package preview

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestContentOfBundlesThatMakesNoSense is no reason to end: where containers are expected a bundle may have anything.
func TestContentOfBundlesThatMakesNoSense(t *testing.T) {
	for _, containers := range []string{`["x"]`, `[null]`, `[{"image": 1}]`, `"x"`, `[["image"]]`} {
		manifest := `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "odd"}, "spec": {"template": {"spec": {"containers": ` + containers + `, "initContainers": ` + containers + `}}}}`
		odd := func(b *bundle.Bundle) { b.Objects = append(b.Objects, parsedObject(t, manifest)) }

		plan, text := ahead(t, planner(t, subscribed(t, "greeter-operator", "1.0.0")...), odd)
		must.Equal(t, containers, plan.Blocked(), false)
		must.Contain(t, containers, text, "    ConfigMap ops/odd\n", "  images that come:\n    registry.example.com/fairlead/greeter-operator:v1.1.0\n")

		open := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "install-1"}}
		for _, s := range must.Value(bundle.PlanSteps(load(t, "1.2.0"), bundle.StepTarget{Namespace: "ops"}))(t) {
			open.Status.Plan = append(open.Status.Plan, &v1alpha1.Step{Resolving: "greeter-operator.v1.2.0",
				Resource: v1alpha1.StepResource{Kind: s.Kind, Name: s.Object.GetName(), Manifest: string(must.Value(json.Marshal(s.Object))(t))}})
		}
		open.Status.Plan = append(open.Status.Plan, &v1alpha1.Step{Resolving: "greeter-operator.v1.2.0", Resource: v1alpha1.StepResource{Kind: "ConfigMap", Name: "odd", Manifest: manifest}})
		p := planner(t, subscribed(t, "greeter-operator", "")...)
		waiting := must.Value(p.Open(t.Context(), open, "mine", nil))(t)
		must.Contain(t, containers, strings.Join(waiting.Operators[0].Added, "\n"), "ConfigMap odd")

		e, objects := installed(t, "1.0.0")
		p = planner(t, append(objects, namespace())...)
		fetch := p.Fetch
		p.Fetch = func(ctx context.Context, r bundleio.Request) (*bundle.Bundle, error) {
			b, err := fetch(ctx, r)
			odd(b)
			return b, err
		}
		of, _ := planned(t, p, e)
		must.Contain(t, containers, strings.Join(of.Added, "\n"), "ConfigMap ops/odd")
	}
}
