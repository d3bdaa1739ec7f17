package catalog

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
)

// warnMeta warns about what the documented schema of all objects forbids.
// Nothing here depends on it, so the objects are kept as they are. The package
// of the known schemas and the properties of bundles have rules of their own.
func (c *content) warnMeta() {
	_, isKnown := known[c.object.Schema]
	for _, m := range c.members {
		switch {
		case strings.EqualFold(m.key, "package") && c.object.Package == "" && !isKnown:
			c.warn(RuleObjectPackage, "its package is empty", "name a package, or remove the field if the object belongs to none")
		case strings.EqualFold(m.key, "name") && c.object.Schema == SchemaDeprecations:
			c.warn(RuleDeprecationName, "it has a name; deprecations are named by their package alone", "remove name")
		case strings.EqualFold(m.key, "properties") && c.object.Schema != SchemaBundle:
			c.warnProperties(m.value)
		}
	}
}

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
