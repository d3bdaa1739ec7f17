package examples

import (
	"encoding/json"
	"testing"
	"time"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/examples/operators/api"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// definition is what a bundle says of its kind.
type definition struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
}

func definitionOf(t *testing.T, b *bundle.Bundle) definition {
	t.Helper()
	for _, object := range b.Objects {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &crd); err != nil {
			t.Fatal(err)
		}
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil); err != nil {
			t.Fatal(err)
		}
		structural, err := schema.NewStructural(&props)
		if err != nil {
			t.Fatal(err)
		}
		if problems := schema.ValidateStructural(nil, structural); len(problems) > 0 {
			t.Errorf("%s: %v", b.Name, problems)
		}
		validator, _, err := validation.NewSchemaValidator(&props)
		if err != nil {
			t.Fatal(err)
		}
		return definition{structural, validator}
	}
	t.Fatalf("%s has no CustomResourceDefinition", b.Name)
	return definition{}
}

// check reports fields of the object that the definition does not know, and values that it refuses.
func (d definition) check(t *testing.T, name string, object map[string]any) {
	t.Helper()
	kept := runtime.DeepCopyJSON(object)
	pruning.Prune(kept, d.structural, true)
	if diff := cmp.Diff(object, kept); diff != "" {
		t.Errorf("%s: the definition drops:\n%s", name, diff)
	}
	if problems := validation.ValidateCustomResource(nil, object, d.validator); len(problems) > 0 {
		t.Errorf("%s: %v", name, problems)
	}
}

// TestExamplesOfTheBundles holds the objects that each ClusterServiceVersion offers as a start against its definition.
func TestExamplesOfTheBundles(t *testing.T) {
	for name, b := range loadBundles(t) {
		var objects []map[string]any
		if err := json.Unmarshal([]byte(b.CSV.Annotations["alm-examples"]), &objects); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(objects) == 0 {
			t.Errorf("%s has no example", name)
		}
		for _, object := range objects {
			definitionOf(t, b).check(t, name, object)
		}
	}
}

// TestDefinitionsKnowEveryField fills in all fields of the Go types and holds them against the newest definitions.
func TestDefinitionsKnowEveryField(t *testing.T) {
	conditions := []metav1.Condition{{
		Type: api.ConditionReady, Status: metav1.ConditionTrue, Reason: "Written", Message: "text", ObservedGeneration: 1,
		LastTransitionTime: metav1.NewTime(time.Unix(1, 0)),
	}}
	objects := map[string]any{
		"greeter-operator.v1.2.0": &api.Greeting{
			Spec:   api.GreetingSpec{Name: "Ada", Style: api.Formal},
			Status: api.GreetingStatus{ObservedGeneration: 1, Text: "text", Conditions: conditions},
		},
		"guestbook-operator.v1.2.0": &api.Guestbook{
			Spec:   api.GuestbookSpec{Guest: "Ada", Title: "Lobby", Style: api.Cheerful},
			Status: api.GuestbookStatus{ObservedGeneration: 1, Entry: "text", Conditions: conditions},
		},
	}
	bundles := loadBundles(t)
	for name, object := range objects {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		definitionOf(t, bundles[name]).check(t, name, content)
	}
}
