package crd

import (
	"maps"
	"regexp"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

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
		flat.add(childPath(path, name), &child)
	}
	if schema.Items != nil {
		flat.add(path+"[*]", schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil {
		flat.add(path+".*", schema.AdditionalProperties.Schema)
	}
}

func childPath(path, name string) string {
	if plainName.MatchString(name) {
		return path + "." + name
	}
	return path + "[" + strconv.Quote(name) + "]"
}

func (flat properties) paths() []string { return slices.Sorted(maps.Keys(flat)) }

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

// Serves reports whether a CRD serves a version.
func Serves(crd *apiextensionsv1.CustomResourceDefinition, version string) bool {
	v := versionOf(crd, version)
	return v != nil && v.Served
}
