package crd

import (
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// compiledSchema is one version of a CRD as the API server uses it.
type compiledSchema struct {
	structural *structuralschema.Structural
	openapi    validation.SchemaValidator
	choiceless validation.SchemaValidator // the same without oneOf, anyOf and not; nil when there are none
	rules      func() *cel.Validator      // compiled when they are needed; nil when there are none
	preserve   bool                       // the CRD keeps fields that no schema knows
}

func newSchema(crd *definition, version string) (*compiledSchema, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schemaOf(versionOf(crd, version)), internal, nil); err != nil {
		return nil, fmt.Errorf("read the schema of version %s of CustomResourceDefinition %s: %w", version, crd.Name, err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return nil, fmt.Errorf("the schema of version %s of CustomResourceDefinition %s is not structural: %w", version, crd.Name, err)
	}
	if err := defaulting.PruneDefaults(structural); err != nil {
		return nil, fmt.Errorf("read the defaults of version %s of CustomResourceDefinition %s: %w", version, crd.Name, err)
	}
	openapi, _, err := validation.NewSchemaValidator(internal)
	if err != nil {
		return nil, fmt.Errorf("use the schema of version %s of CustomResourceDefinition %s: %w", version, crd.Name, err)
	}
	s := &compiledSchema{structural: structural, openapi: openapi, preserve: crd.Spec.PreserveUnknownFields,
		rules: sync.OnceValue(func() *cel.Validator { return cel.NewValidator(structural, true, celconfig.PerCallLimit) })}
	if !removeChoices(internal) {
		return s, nil
	}
	if s.choiceless, _, err = validation.NewSchemaValidator(internal); err != nil {
		return nil, fmt.Errorf("use the schema of version %s of CustomResourceDefinition %s: %w", version, crd.Name, err)
	}
	return s, nil
}

// removeChoices takes oneOf, anyOf and not out of a schema, and tells whether there were any. The schema is changed.
func removeChoices(p *apiextensions.JSONSchemaProps) bool {
	if p == nil {
		return false
	}
	found := len(p.OneOf)+len(p.AnyOf) > 0 || p.Not != nil
	p.OneOf, p.AnyOf, p.Not = nil, nil, nil
	for name, child := range p.Properties {
		found = removeChoices(&child) || found
		p.Properties[name] = child
	}
	for i := range p.AllOf {
		found = removeChoices(&p.AllOf[i]) || found
	}
	if p.Items != nil {
		found = removeChoices(p.Items.Schema) || found
	}
	if p.AdditionalProperties != nil {
		found = removeChoices(p.AdditionalProperties.Schema) || found
	}
	return found
}

// read makes an object what a reader of the version would get: unknown fields are dropped and defaults filled in. The object is changed.
func (s *compiledSchema) read(object map[string]any) {
	if !s.preserve {
		pruning.Prune(object, s.structural, true)
		defaulting.PruneNonNullableNullsWithoutDefaults(object, s.structural)
	}
	defaulting.Default(object, s.structural)
}

// undocument removes from a schema what is for readers only. The schema is changed.
func undocument(p *props) {
	if p == nil {
		return
	}
	p.Description, p.Title, p.Example, p.ExternalDocs = "", "", nil, nil
	for name, child := range p.Properties {
		undocument(&child)
		p.Properties[name] = child
	}
	for _, list := range [][]props{p.AllOf, p.AnyOf, p.OneOf} {
		for i := range list {
			undocument(&list[i])
		}
	}
	undocument(p.Not)
	if p.Items != nil {
		undocument(p.Items.Schema)
	}
	if p.AdditionalProperties != nil {
		undocument(p.AdditionalProperties.Schema)
	}
}

type props = apiextensionsv1.JSONSchemaProps

// properties are the schemas of an object and of all its parts, by path.
type properties map[string]*props

// plainName is a name that needs no quotes in a path.
var plainName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

// flatten takes a schema apart. The object is ^, a field ^.spec, an item of a list ^.spec.items[*], a value of a map ^.spec.labels.*
func flatten(schema *props) properties {
	flat := properties{}
	flat.add("^", schema)
	return flat
}

func (flat properties) add(path string, schema *props) {
	if schema == nil {
		return
	}
	flat[path] = schema
	for name := range schema.Properties {
		child := schema.Properties[name]
		step := "." + name
		if !plainName.MatchString(name) {
			step = "[" + strconv.Quote(name) + "]"
		}
		flat.add(path+step, &child)
	}
	if schema.Items != nil {
		flat.add(path+"[*]", schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil {
		flat.add(path+".*", schema.AdditionalProperties.Schema)
	}
}

// schemaOf is the schema of a version; one that has none accepts everything.
func schemaOf(version *apiextensionsv1.CustomResourceDefinitionVersion) *props {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return &props{}
	}
	return version.Schema.OpenAPIV3Schema
}

// versionOf returns a version of a CRD; nil is none.
func versionOf(crd *apiextensionsv1.CustomResourceDefinition, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == name {
			return &crd.Spec.Versions[i]
		}
	}
	return nil
}

// serves reports whether a CRD serves a version.
func serves(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	v := versionOf(crd, version)
	return v != nil && v.Served
}
