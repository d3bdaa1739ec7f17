package catalog

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/catalog/safetext"
)

// shape is what a value must look like: its kind and, for objects and lists,
// the shape of what is in them. A nil shape is any value, and null fits every
// shape. Keys that a shape does not name may hold anything.
type shape struct {
	kind   string            // as rawjson.Kind names it
	fields map[string]*shape // of an object, by key and by folded key
	each   *shape            // every element of a list, or member of an object
}

var (
	textShape    = &shape{kind: "string"}
	textsShape   = listOf(textShape)
	textMapShape = &shape{kind: "object", each: textShape}
	boolShape    = &shape{kind: "boolean"}
	numberShape  = &shape{kind: "number"}
)

// csvMetadataShape is that of the value of an olm.csv.metadata property.
var csvMetadataShape = objectOf([]string{"description", "displayName", "maturity", "minKubeVersion"}, map[string]*shape{
	"annotations":           textMapShape,
	"labels":                textMapShape,
	"keywords":              textsShape,
	"links":                 listOf(objectOf([]string{"name", "url"}, nil)),
	"maintainers":           listOf(objectOf([]string{"name", "email"}, nil)),
	"provider":              objectOf([]string{"name", "url"}, nil),
	"installModes":          listOf(objectOf([]string{"type"}, map[string]*shape{"supported": boolShape})),
	"nativeAPIs":            listOf(objectOf([]string{"group", "version", "kind"}, nil)),
	"crdDescriptions":       objectOf(nil, map[string]*shape{"owned": listOf(apiShape), "required": listOf(apiShape)}),
	"apiServiceDefinitions": objectOf(nil, map[string]*shape{"owned": listOf(apiShape), "required": listOf(apiShape)}),
})

// apiShape is that of the description of a CRD or of an API service.
var apiShape = objectOf([]string{"group", "version", "kind", "name", "displayName", "description", "deploymentName"}, map[string]*shape{
	"containerPort":     numberShape,
	"resources":         listOf(objectOf([]string{"name", "kind", "version"}, nil)),
	"specDescriptors":   listOf(descriptorShape),
	"statusDescriptors": listOf(descriptorShape),
	"actionDescriptors": listOf(descriptorShape),
})

var descriptorShape = objectOf([]string{"path", "displayName", "description"}, map[string]*shape{"x-descriptors": textsShape})

func listOf(each *shape) *shape { return &shape{kind: "list", each: each} }

func objectOf(textFields []string, others map[string]*shape) *shape {
	s := &shape{kind: "object", fields: map[string]*shape{}}
	for _, key := range textFields {
		s.fields[key], s.fields[fold(key)] = textShape, textShape
	}
	for key, field := range others {
		s.fields[key], s.fields[fold(key)] = field, field
	}
	return s
}

// mismatch says what of value does not fit, or is empty.
func (s *shape) mismatch(value []byte) string {
	if len(value) == 0 {
		return "there is no value"
	}
	path, kind, want := s.find(value)
	if want == "" {
		return ""
	}
	if path == "" {
		return fmt.Sprintf("the value is %s, not %s", article(kind), article(want))
	}
	return fmt.Sprintf("%q is %s, not %s", strings.TrimPrefix(path, "."), article(kind), article(want))
}

// find returns the path and kind of the first value that does not fit, and the
// kind it should be.
func (s *shape) find(value []byte) (path, kind, want string) {
	if s == nil {
		return "", "", ""
	}
	kind = rawjson.Kind(value)
	if kind == "null" {
		return "", "", ""
	}
	if kind != s.kind {
		return "", kind, s.kind
	}
	switch kind {
	case "list":
		i := 0
		for element := range rawjson.Elements(value) {
			if path, kind, want = s.each.find(element); want != "" {
				return fmt.Sprintf("[%d]%s", i, path), kind, want
			}
			i++
		}
	case "object":
		for key, v := range rawjson.Members(value) {
			field, ok := s.fields[key]
			if !ok && s.fields != nil {
				field, ok = s.fields[fold(key)]
			}
			if !ok {
				field = s.each
			}
			if path, kind, want = field.find(v); want != "" {
				return "." + safetext.Truncate(key, 100) + path, kind, want
			}
		}
	}
	return "", "", ""
}
