package registryv1

import "encoding/json"

// JSON types as schemas name them.
const (
	typeObject  = "object"
	typeArray   = "array"
	typeString  = "string"
	typeInteger = "integer"
	typeNumber  = "number"
	typeBoolean = "boolean"
	typeNull    = "null"
)

// schema is the part of JSON schema (draft-07) that configurations are described with, in the order in which it is written.
type schema struct {
	Draft       string             `json:"$schema,omitempty"`
	Ref         string             `json:"$ref,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        types              `json:"type,omitempty"`
	Format      string             `json:"format,omitempty"`
	Pattern     string             `json:"pattern,omitempty"`
	MinLength   *int               `json:"minLength,omitempty"`
	MaxLength   *int               `json:"maxLength,omitempty"`
	Minimum     *int64             `json:"minimum,omitempty"`
	Maximum     *int64             `json:"maximum,omitempty"`
	Items       *schema            `json:"items,omitempty"`
	MinItems    *int               `json:"minItems,omitempty"`
	MaxItems    *int               `json:"maxItems,omitempty"`
	UniqueItems bool               `json:"uniqueItems,omitempty"`
	Properties  map[string]*schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	// OneOf are alternatives that differ in what they require, and in nothing else.
	OneOf []*schema `json:"oneOf,omitempty"`
	// Not is a set of required properties that exclude each other.
	Not *schema `json:"not,omitempty"`
	// Values describes the properties that Properties does not name; closed forbids them.
	Values *additional `json:"additionalProperties,omitempty"`

	Definitions map[string]*schema `json:"definitions,omitempty"`
}

// types are the types that a value may have.
type types []string

// MarshalJSON writes a single type as a text, which more readers understand than a list of one.
func (t types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// additional is either a schema, or false when there is none.
type additional struct{ schema *schema }

// closed allows no other properties than those that are named.
var closed = &additional{}

// MarshalJSON writes the schema, or false.
func (a *additional) MarshalJSON() ([]byte, error) {
	if a.schema == nil {
		return []byte("false"), nil
	}
	return json.Marshal(a.schema)
}

func ptr[T any](v T) *T { return &v }
