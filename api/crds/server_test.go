package crds_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"fairlead.dev/fairlead/api/crds"
	"fairlead.dev/fairlead/test/must"
)

// admission does with the objects of one kind and version what an API server does before it stores them.
type admission struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

var admissions = sync.OnceValues(func() (map[schema.GroupVersionKind]admission, error) {
	all, err := crds.All()
	if err != nil {
		return nil, err
	}
	out := map[schema.GroupVersionKind]admission{}
	for _, crd := range all {
		for _, version := range crd.Spec.Versions {
			gvk := schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
			if out[gvk], err = newAdmission(version.Schema); err != nil {
				return nil, fmt.Errorf("%s: %w", gvk, err)
			}
		}
	}
	return out, nil
})

func newAdmission(in *apiextensionsv1.CustomResourceValidation) (admission, error) {
	internal := &apiextensions.CustomResourceValidation{}
	if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(in, internal, nil); err != nil {
		return admission{}, err
	}
	structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
	if err != nil {
		return admission{}, err
	}
	validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
	if err != nil {
		return admission{}, err
	}
	return admission{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// admissionOf is the admission of the kind that an object says it is.
func admissionOf(t testing.TB, obj map[string]any) admission {
	t.Helper()
	known, err := admissions()
	must.NoErrorf(t, err, "read the CustomResourceDefinitions")
	gvk := schema.FromAPIVersionAndKind(fmt.Sprint(obj["apiVersion"]), fmt.Sprint(obj["kind"]))
	a, ok := known[gvk]
	if !ok {
		t.Fatalf("no CustomResourceDefinition has the kind %s", gvk)
	}
	return a
}

// prune takes the unknown fields and the stray nulls out of an object, sets defaults and returns the unknown fields.
func (a admission) prune(obj map[string]any) []string {
	unknown := pruning.PruneWithOptions(obj, a.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(obj, a.structural)
	defaulting.Default(obj, a.structural)
	return unknown
}

// create validates a new object.
func (a admission) create(obj map[string]any) field.ErrorList {
	errs := validation.ValidateCustomResource(nil, obj, a.schema)
	errs = append(errs, objectmeta.Validate(nil, obj, a.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.structural, obj)...)
	ruleErrs, _ := a.rules.Validate(context.Background(), nil, a.structural, obj, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, ruleErrs...)
}

// update validates a changed object.
func (a admission) update(obj, old map[string]any) field.ErrorList {
	errs := validation.ValidateCustomResourceUpdate(nil, obj, old, a.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, a.structural, obj)...)
	ruleErrs, _ := a.rules.Validate(context.Background(), nil, a.structural, obj, old, celconfig.RuntimeCELCostBudget)
	return append(errs, ruleErrs...)
}

// admit prunes and validates a copy of a new object and returns that with the unknown fields.
func admit(t testing.TB, obj map[string]any) (stored map[string]any, unknown []string, errs field.ErrorList) {
	t.Helper()
	a := admissionOf(t, obj)
	stored = runtime.DeepCopyJSON(obj)
	unknown = a.prune(stored)
	return stored, unknown, a.create(stored)
}
