package validate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func checkVersions(r recorder, at place, versions []apiextensionsv1.CustomResourceDefinitionVersion) {
	stored, seen := 0, map[string]bool{}
	for i, v := range versions {
		field := fmt.Sprintf("spec.versions[%d]", i)
		for _, message := range validation.IsDNS1035Label(v.Name) {
			r.err(RuleCRDVersions, at.in("%s.name", field), message, "name it like v1 or v1beta1")
		}
		if seen[v.Name] {
			r.err(RuleCRDVersions, at.in("%s.name", field), fmt.Sprintf("%s is the name of an earlier version", v.Name), "keep one of them")
		}
		seen[v.Name] = true
		if v.Storage {
			stored++
		}
		const most = 256
		switch warning := v.DeprecationWarning; {
		case warning == nil:
		case !v.Deprecated:
			r.err(RuleCRDVersions, at.in("%s.deprecationWarning", field), "can only be set for a version that is deprecated", "set deprecated: true, or remove it")
		case *warning == "" || len(*warning) > most || strings.ContainsFunc(*warning, func(c rune) bool { return !unicode.IsPrint(c) }):
			r.err(RuleCRDVersions, at.in("%s.deprecationWarning", field), fmt.Sprintf("has to be 1 to %d printable characters", most), "correct the text")
		}
		for i, column := range v.AdditionalPrinterColumns {
			field := fmt.Sprintf("%s.additionalPrinterColumns[%d]", field, i)
			if column.Name == "" {
				r.err(RuleCRDColumn, at.in("%s.name", field), "is missing", "name the column")
			}
			if !slices.Contains(columnTypes, column.Type) {
				r.err(RuleCRDColumn, at.in("%s.type", field), fmt.Sprintf("%q is not a type of columns", column.Type), "use one of "+strings.Join(columnTypes, ", "))
			}
			if column.Format != "" && !slices.Contains(columnFormats, column.Format) {
				r.err(RuleCRDColumn, at.in("%s.format", field), fmt.Sprintf("%q is not a format of columns", column.Format), "use one of "+strings.Join(columnFormats, ", "))
			}
			if !strings.HasPrefix(column.JSONPath, ".") {
				r.err(RuleCRDColumn, at.in("%s.jsonPath", field), fmt.Sprintf("%q is not a path that begins with a dot", column.JSONPath), "write it like .spec.replicas")
			}
		}
		if v.Subresources != nil && v.Subresources.Scale != nil {
			// The path into status is left out, as all that is about status.
			scale, field := v.Subresources.Scale, field+".subresources.scale"
			if !isPathBelow(scale.SpecReplicasPath, ".spec.") {
				r.err(RuleCRDScale, at.in("%s.specReplicasPath", field), fmt.Sprintf("%q is not a path below .spec", scale.SpecReplicasPath), "write it like .spec.replicas")
			}
			if path := scale.LabelSelectorPath; path != nil && *path != "" && !isPathBelow(*path, ".spec.") && !isPathBelow(*path, ".status.") {
				r.err(RuleCRDScale, at.in("%s.labelSelectorPath", field), fmt.Sprintf("%q is not a path below .spec or .status", *path), "write it like .status.selector")
			}
		}
		checkSelectable(r, at, field, v)
	}
	if stored != 1 {
		r.err(RuleCRDStorage, at.in("spec.versions"), fmt.Sprintf("must have exactly one version marked as storage version, and has %d", stored),
			"set storage: true for one of them")
	}
}

// What printer columns can be.
var (
	columnTypes   = []string{"integer", "number", "string", "boolean", "date"}
	columnFormats = []string{"int32", "int64", "float", "double", "byte", "date", "date-time", "password"}
)

// isPathBelow says whether a text is a path in dot notation, without indexes, below another.
func isPathBelow(path, above string) bool {
	return strings.HasPrefix(path, above) && !strings.HasSuffix(path, ".") && !strings.Contains(path, "..") && !strings.ContainsAny(path, "[]")
}

func checkSelectable(r recorder, at place, version string, v apiextensionsv1.CustomResourceDefinitionVersion) {
	const most = 8
	if len(v.SelectableFields) > most {
		r.err(RuleCRDSelectable, at.in("%s.selectableFields", version), fmt.Sprintf("has %d fields, and may have %d", len(v.SelectableFields), most), "remove some")
	}
	seen := map[string]bool{}
	for i, f := range v.SelectableFields {
		field := at.in("%s.selectableFields[%d].jsonPath", version, i)
		switch {
		case !strings.HasPrefix(f.JSONPath, ".") || len(f.JSONPath) < 2:
			r.err(RuleCRDSelectable, field, fmt.Sprintf("%q is not a path that begins with a dot", f.JSONPath), "write it like .spec.color")
		case seen[f.JSONPath]:
			r.err(RuleCRDSelectable, field, fmt.Sprintf("%s is there already", f.JSONPath), "keep one of them")
		case !isSelectable(v.Schema, f.JSONPath):
			r.err(RuleCRDSelectable, field, fmt.Sprintf("%s is not a field of type string, boolean or integer in the schema", f.JSONPath), "name one that is")
		}
		seen[f.JSONPath] = true
	}
}

// isSelectable says whether a path leads to a field of the schema that can be selected by. Metadata cannot.
func isSelectable(validation *apiextensionsv1.CustomResourceValidation, path string) bool {
	if validation == nil || validation.OpenAPIV3Schema == nil || strings.HasPrefix(path, ".metadata") {
		return false
	}
	schema := *validation.OpenAPIV3Schema
	for _, name := range strings.Split(path[1:], ".") {
		next, ok := schema.Properties[name]
		if !ok {
			return false
		}
		schema = next
	}
	return slices.Contains([]string{"string", "boolean", "integer"}, schema.Type)
}
