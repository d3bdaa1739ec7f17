package registryv1

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// Fields of a configuration.
const (
	watchNamespace   = "watchNamespace"
	watchNamespaces  = "watchNamespaces"
	deploymentConfig = "deploymentConfig"
)

// Formats of the names of namespaces, which only a reader who knows the namespace of the installation can check.
const (
	formatOwn    = "ownNamespaceInstallMode"
	formatSingle = "singleNamespaceInstallMode"
)

const (
	draft07          = "http://json-schema.org/draft-07/schema#"
	namespacePattern = `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	maxNamespaceName = 63
	// maxNamespaces bounds a list of namespaces: every permission becomes a Role and a RoleBinding in each.
	maxNamespaces = 100
	// quantityPattern is what the texts of quantities look like; whether one can be read is found out by reading it. Digits and exponents are
	// few, because reading 1e999999999 would take minutes; Kubernetes knows no quantity above 2^63.
	quantityPattern = `^[+-]?[0-9.]{1,64}([eE][+-]?[0-9]{1,2}|[numkKMGTPE]i?)?$`
)

// ConfigSchema is the JSON schema (draft-07) of the configuration that a bundle takes, for clients that show or check it. Its formats
// ownNamespaceInstallMode and singleNamespaceInstallMode stand for the namespace of the installation and for any other one.
// Rendering takes a little more: null in deploymentConfig is the same as absence.
func ConfigSchema(b *bundle.Bundle) (json.RawMessage, error) {
	modes, err := modesOf(b)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(configSchema(modes))
	if err != nil {
		return nil, fmt.Errorf("write the configuration schema of bundle %s: %w", b.Name, err)
	}
	return text, nil
}

// configSchema is the schema for an operator with some install modes. Which of the namespaces can be given, and whether one has to
// be, follows from these alone.
func configSchema(modes v1alpha1.InstallModeSet) *spec.Schema {
	all, own := modes[v1alpha1.InstallModeTypeAllNamespaces], modes[v1alpha1.InstallModeTypeOwnNamespace]
	single, multi := modes[v1alpha1.InstallModeTypeSingleNamespace], modes[v1alpha1.InstallModeTypeMultiNamespace]
	root := closed().WithTitle("Configuration of an extension").SetProperty(deploymentConfig, *deploymentSchema())
	root.Schema = draft07
	// add lets null stand for all namespaces, where the operator can watch them all.
	var named []string
	add := func(name, kind, description string, s *spec.Schema) {
		if all {
			s.Type = spec.StringOrArray{"null"}
			description += " All when it is absent or null."
		}
		s.Type = append(s.Type, kind)
		named = append(named, name)
		root.SetProperty(name, *s.WithDescription(description))
	}
	name := new(spec.Schema).WithMinLength(1).WithMaxLength(maxNamespaceName).WithPattern(namespacePattern)
	if own || single {
		one, description := *name, "The namespace that the operator watches."
		switch {
		case !single:
			one.Format = formatOwn
			description += " It can only be the one that it is installed in."
		case !own:
			one.Format = formatSingle
			description += " It cannot be the one that it is installed in."
		}
		add(watchNamespace, "string", description, &one)
	}
	if multi {
		description := "The namespaces that the operator watches."
		name.Type = spec.StringOrArray{"string"}
		if !own {
			name.Format = formatSingle
			description += " The one that it is installed in cannot be among them."
		}
		many := new(spec.Schema).WithMinItems(1).WithMaxItems(maxNamespaces).UniqueValues()
		many.Items = &spec.SchemaOrArray{Schema: name}
		add(watchNamespaces, "array", description, many)
	}
	switch {
	case len(named) == 2 && all:
		root.Not = new(spec.Schema).WithRequired(named...)
	case len(named) == 2:
		root.OneOf = []spec.Schema{*new(spec.Schema).WithRequired(named[0]), *new(spec.Schema).WithRequired(named[1])}
	case !all:
		root.Required = named
	}
	return root
}

// deploymentSchema is what does not depend on the bundle: the fields of a Subscription's configuration but its selector.
var deploymentSchema = sync.OnceValue(func() *spec.Schema {
	s := schemaOf(reflect.TypeFor[v1alpha1.SubscriptionConfig]())
	delete(s.Properties, "selector")
	return s.WithDescription("Changes of the Deployments of the operator and of all their containers, init containers excepted.")
})

// closed is an object that has no other fields than those that are added.
func closed() *spec.Schema {
	s := new(spec.Schema).Typed("object", "").WithProperties(map[string]spec.Schema{})
	s.AdditionalProperties = &spec.SchemaOrBool{}
	return s
}

// schemaOf is the schema of the JSON form of a Go type that Kubernetes objects are decoded into.
func schemaOf(t reflect.Type) *spec.Schema {
	s := new(spec.Schema)
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return s.AddType("string", "").AddType("number", "").WithPattern(quantityPattern)
	case reflect.TypeFor[intstr.IntOrString]():
		return s.AddType("string", "").AddType("integer", "")
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime](), reflect.TypeFor[metav1.Duration]():
		return s.Typed("string", "")
	case reflect.TypeFor[metav1.FieldsV1]():
		return s.Typed("object", "")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.String:
		return s.Typed("string", "")
	case reflect.Bool:
		return s.Typed("boolean", "")
	case reflect.Int32:
		return s.Typed("integer", "").WithMinimum(math.MinInt32, false).WithMaximum(math.MaxInt32, false)
	case reflect.Int, reflect.Int64:
		return s.Typed("integer", "")
	case reflect.Map:
		return spec.MapProperty(schemaOf(t.Elem()))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return s.Typed("string", "")
		}
		return spec.ArrayProperty(schemaOf(t.Elem()))
	case reflect.Struct:
		s = closed()
		addFields(s, t)
		return s
	default:
		panic("no JSON schema for the Go type " + t.String()) // the types are fixed, and a test goes through them
	}
}

// addFields adds the fields of a struct that have a JSON form, and those of the structs that are written inline.
func addFields(to *spec.Schema, t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case name == "":
			addFields(to, field.Type)
		default:
			to.SetProperty(name, *schemaOf(field.Type))
			if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
				to.AddRequired(name)
			}
		}
	}
}
