package registryv1

import (
	"math"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const definitionsPath = "#/definitions/"

// quantityPattern is what the texts of quantities look like; whether one can be read is found out by reading it. Digits and exponents are few,
// because reading 1e999999999 would take minutes; Kubernetes knows no quantity above 2^63.
const quantityPattern = `^[+-]?[0-9.]{1,64}([eE][+-]?[0-9]{1,2}|[numkKMGTPE]i?)?$`

// typeSchemas makes schemas of the Go types that Kubernetes objects are decoded into. Every struct becomes a definition.
type typeSchemas struct {
	definitions map[string]*schema
}

// of is the schema of the JSON form of a type.
func (g *typeSchemas) of(t reflect.Type) *schema {
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		return &schema{Type: types{typeString, typeNumber}, Pattern: quantityPattern}
	case reflect.TypeFor[intstr.IntOrString]():
		return &schema{Type: types{typeString, typeInteger}}
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		return &schema{Type: types{typeString}, Format: "date-time"}
	case reflect.TypeFor[metav1.Duration]():
		return &schema{Type: types{typeString}}
	case reflect.TypeFor[metav1.FieldsV1]():
		return &schema{Type: types{typeObject}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.String:
		return &schema{Type: types{typeString}}
	case reflect.Bool:
		return &schema{Type: types{typeBoolean}}
	case reflect.Int32:
		return &schema{Type: types{typeInteger}, Minimum: ptr(int64(math.MinInt32)), Maximum: ptr(int64(math.MaxInt32))}
	case reflect.Int, reflect.Int64:
		return &schema{Type: types{typeInteger}}
	case reflect.Map:
		return &schema{Type: types{typeObject}, Values: &additional{g.of(t.Elem())}}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &schema{Type: types{typeString}}
		}
		return &schema{Type: types{typeArray}, Items: g.of(t.Elem())}
	case reflect.Struct:
		return g.ofStruct(t)
	default:
		panic("no JSON schema for the Go type " + t.String()) // the types are fixed, and a test goes through them
	}
}

// ofStruct refers to the definition of a struct, which is made on first use.
func (g *typeSchemas) ofStruct(t reflect.Type) *schema {
	name := t.Name()
	if g.definitions[name] == nil {
		definition := &schema{Type: types{typeObject}, Properties: map[string]*schema{}, Values: closed}
		g.definitions[name] = definition
		g.addFields(definition, t)
	}
	return &schema{Ref: definitionsPath + name}
}

// addFields adds the fields of a struct, and those of the structs that are written inline.
func (g *typeSchemas) addFields(to *schema, t reflect.Type) {
	for field := range fieldsOf(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			g.addFields(to, field.Type)
			continue
		}
		to.Properties[name] = g.of(field.Type)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			to.Required = append(to.Required, name)
		}
	}
}

// fieldsOf are the fields of a struct that have a JSON form.
func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			field := t.Field(i)
			if field.Tag.Get("json") == "-" || !field.IsExported() {
				continue
			}
			if !yield(field) {
				return
			}
		}
	}
}
