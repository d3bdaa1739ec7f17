package catalog

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// warnProperties warns about properties that are not a list of objects with type
// and value.
func (c *content) warnProperties(list []byte) {
	const fix = "write a list of objects with type and value, or remove it"
	if kind := rawjson.Kind(list); kind != "list" {
		c.warn(RuleObjectProperty, fmt.Sprintf("\"properties\" is %s, not a list", article(kind)), fix)
		return
	}
	var notes []string
	i := 0
	for property := range rawjson.Elements(list) {
		if fault := propertyFault(property); fault != "" {
			note(&notes, "", fmt.Sprintf("properties[%d] %s", i, fault))
		}
		i++
	}
	if len(notes) > 0 {
		c.warn(RuleObjectProperty, strings.Join(notes, ", "), fix)
	}
}

// propertyFault is what is wrong with a property, or empty.
func propertyFault(property []byte) string {
	if kind := rawjson.Kind(property); kind != "object" {
		return fmt.Sprintf("is %s, not an object", article(kind))
	}
	var kind, value []byte
	for key, v := range rawjson.Members(property) {
		switch {
		case strings.EqualFold(key, "type"):
			kind = v
		case strings.EqualFold(key, "value"):
			value = v
		}
	}
	switch {
	case kind == nil:
		return "has no type"
	case rawjson.Kind(kind) != "string":
		return fmt.Sprintf("has a type that is %s, not a string", article(rawjson.Kind(kind)))
	case rawjson.String(kind) == "":
		return "has an empty type"
	case value == nil:
		return "has no value"
	case rawjson.Kind(value) == "null":
		return "has a value that is null"
	}
	return ""
}
