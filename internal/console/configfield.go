package console

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/internal/messages"
)

// maxFields bounds the fields of a configuration that have an input of their own.
const maxConfigFields = 40

// field is one of a configuration that has an input of its own: its type is a simple one. Everything else is written as YAML.
type field struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"` // string, boolean, integer, number, or list of strings
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Choices     []string `json:"choices,omitempty"`
	Value       string   `json:"value,omitempty"`
}

// Parameter is the name of the input.
func (f field) Parameter() string { return configField + f.Type + "." + f.Name }

// Odd is a value that is none of those that the input offers, such as one to be corrected.
func (f field) Odd() string {
	offers := f.Choices
	if len(offers) == 0 && f.Type == "boolean" {
		offers = []string{"true", "false"}
	}
	if slices.Contains(offers, f.Value) {
		return ""
	}
	return f.Value
}

// listType is that of lists of texts.
const listType = "list"

// configSchema is as much of a JSON schema as is shown.
type configSchema struct {
	Type        any                     `json:"type"`
	Description string                  `json:"description"`
	Enum        []any                   `json:"enum"`
	Properties  map[string]configSchema `json:"properties"`
	Required    []string                `json:"required"`
	Items       *configSchema           `json:"items"`
}

// fieldsOf are the fields that a schema has simple types of, with what a configuration says of them; rest is what else it says, as YAML, and others are the
// names of the fields that are written there.
func fieldsOf(raw json.RawMessage, config map[string]any) (fields []field, others []string, rest string) {
	var root configSchema
	if len(raw) > 0 && json.Unmarshal(raw, &root) != nil {
		root = configSchema{} // it is made by the manager's code; without it everything is written as YAML
	}
	left := maps.Clone(config)
	for _, name := range slices.Sorted(maps.Keys(root.Properties)) {
		s := root.Properties[name]
		kind := s.simple()
		value, said := config[name]
		text, simple := fieldText(kind, value)
		if kind == "" || said && !simple || len(fields) == maxConfigFields {
			others = append(others, name)
			continue
		}
		f := field{Name: name, Type: kind, Description: s.Description, Required: slices.Contains(root.Required, name), Value: text}
		for _, choice := range s.Enum {
			f.Choices = append(f.Choices, fmt.Sprint(choice))
		}
		fields = append(fields, f)
		delete(left, name)
	}
	if len(left) > 0 {
		if text, err := messages.YAML(left); err == nil { // it was read as JSON
			rest = string(text)
		}
	}
	return fields, others, rest
}

// simple is the type of an input; empty for what has none.
func (s configSchema) simple() string {
	kind, _ := s.Type.(string)
	if several, is := s.Type.([]any); is { // of which null is the same as nothing
		several = slices.DeleteFunc(slices.Clone(several), func(one any) bool { return one == "null" })
		if len(several) == 1 {
			kind, _ = several[0].(string)
		}
	}
	switch {
	case slices.Contains([]string{"string", "boolean", "integer", "number"}, kind):
		return kind
	case kind == "array" && s.Items != nil && s.Items.simple() == "string":
		return listType
	}
	return ""
}

// fieldText is a value as an input shows it; false for what it cannot.
func fieldText(kind string, value any) (string, bool) {
	switch v := value.(type) {
	case nil:
		return "", true
	case string:
		return v, kind == "string"
	case bool:
		return strconv.FormatBool(v), kind == "boolean"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), kind == "integer" || kind == "number"
	case []any:
		var all []string
		for _, item := range v {
			text, is := item.(string)
			if !is {
				return "", false
			}
			all = append(all, text)
		}
		return strings.Join(all, ", "), kind == listType
	}
	return "", false
}

// fieldValue is what was written into an input.
func fieldValue(kind, text string) (any, error) {
	switch kind {
	case "string":
		return text, nil
	case "boolean":
		v, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", text)
		}
		return v, nil
	case "integer":
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no whole number", text)
		}
		return v, nil
	case "number":
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no number", text)
		}
		return v, nil
	case listType:
		list := []any{}
		for _, word := range namesIn(text) {
			list = append(list, word)
		}
		return list, nil
	}
	return nil, errors.New("its type is not known: write it as YAML")
}
