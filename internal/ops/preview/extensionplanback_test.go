package preview

import (
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPlanOfAnExtensionThatGoesBack: the rollout of an upgrade that widened a schema has failed. The plan says that it is rolled back, and is
// refused, in the words of the controller, while a stored object uses the new field.
func TestPlanOfAnExtensionThatGoesBack(t *testing.T) {
	for name, used := range map[string]bool{"nothing uses the new field": false, "an object does": true} {
		t.Run(name, func(t *testing.T) {
			e, objects := installed(t, "1.0.0")
			e.Annotations = map[string]string{revision.OnFailureKey: revision.OnFailureRollback}
			failed := must.Value(revision.Build(revision.Options{Extension: revision.Extension{Name: "greeter", UID: "ext", Namespace: "ops"}, Number: 2, SystemNamespace: "olm",
				Objects: []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "ops"}}}},
				Annotations: map[string]string{olmv1.BundleNameKey: "greeter-operator.v2.0.0", olmv1.BundleVersionKey: "2.0.0", olmv1.PackageNameKey: "greeter-operator",
					"operators.fairlead.dev/inputs": "x", "operators.fairlead.dev/generation": "0"}}))(t)
			meta.SetStatusCondition(&failed.Set.Status.Conditions, olmv1.NewCondition(olmv1.TypeProgressing, "False", olmv1.ReasonProgressDeadlineExceeded, "too long"))
			objects = append(objects, failed.Set, namespace())
			var kind schema.GroupVersionKind
			for _, o := range objects {
				crd, ok := o.(*apiextensionsv1.CustomResourceDefinition)
				if !ok {
					continue
				}
				v := &crd.Spec.Versions[0]
				spec := v.Schema.OpenAPIV3Schema.Properties["spec"]
				spec.Properties["fresh"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
				kind = schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}
			}
			object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a", "namespace": "ops"}, "spec": map[string]any{}}}
			object.SetGroupVersionKind(kind)
			if used {
				object.Object["spec"] = map[string]any{"fresh": "x"}
			}
			plan, text := planned(t, planner(t, append(objects, client.Object(object))...), e)
			if !strings.Contains(text, "the rollout of revision greeter-2 has failed: it is rolled back to the objects of revision greeter-1") || plan.Wanted.Version != "1.0.0" {
				t.Errorf("%+v\n%s", plan, text)
			}
			blocked := strings.Join(plan.Blocked, "\n")
			if (blocked != "") != used || used && !strings.Contains(blocked, "1 of 1 custom resources would lose fields: ops/a: ") {
				t.Errorf("blocked: %q", blocked)
			}
		})
	}
}
