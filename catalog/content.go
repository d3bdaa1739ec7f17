package catalog

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"fairlead.dev/fairlead/catalog/internal/rawjson"
	"fairlead.dev/fairlead/catalog/safetext"
)

// content is an object on its way from JSON to its type.
type content struct {
	text     []byte
	members  []member
	object   Object
	at       Position
	limits   Limits
	keeper   *keeper
	problems Problems
	twice    []string // keys of the object that hide others like them
	unknown  []string // keys of properties that mean nothing
}

// decode returns the object, or nil with problems.
func (c *content) decode() any {
	for _, m := range c.members {
		if c.object.Schema == SchemaBundle && strings.EqualFold(m.key, "properties") {
			continue // most of a bundle; counted while it is read
		}
		if n := rawjson.Count(m.value, c.limits.Items); n > c.limits.Items {
			c.failItems(m.key)
			return nil
		}
	}
	var object any
	switch c.object.Schema {
	case SchemaPackage:
		p := &Package{Position: c.at}
		object = into(c, p)
		canonical(p.Properties)
	case SchemaChannel:
		ch := &Channel{Position: c.at}
		object = into(c, ch)
		canonical(ch.Properties)
	case SchemaBundle:
		object = c.bundle()
	case SchemaDeprecations:
		object = into(c, &Deprecations{Position: c.at})
	default:
		// An object of a schema that is not known here is kept.
		if strings.HasPrefix(fold(c.object.Schema), "olm.") {
			c.report(Warning, RuleSchemaUnknown, "there is no such schema; the object is kept, and means nothing",
				"correct it to one of "+safetext.QuoteList(slices.Sorted(maps.Keys(known)))+", or leave the object out")
		}
		if c.object.Schema == SchemaLifecycles {
			if _, err := ParseLifecycle(c.text); err != nil {
				c.report(Warning, RuleLifecycle, err.Error()+"; nothing of it counts", "correct it, or leave the object out")
			}
		}
		meta := &Meta{Schema: c.object.Schema, Package: c.object.Package, Name: c.object.Name, Position: c.at}
		if c.keeper.keeping != keepNothing {
			meta.Blob = rawjson.AppendCanonical(nil, c.text)
		}
		object = meta
	}
	if object != nil {
		c.warnKeys()
		// Warn about what the documented schema of all objects forbids. Nothing here depends on it, so the objects are kept as they are.
		// The package of the known schemas and the properties of bundles have rules of their own.
		_, isKnown := known[c.object.Schema]
		for _, m := range c.members {
			switch {
			case strings.EqualFold(m.key, "package") && c.object.Package == "" && !isKnown:
				c.report(Warning, RuleObjectPackage, "its package is empty", "name a package, or remove the field if the object belongs to none")
			case strings.EqualFold(m.key, "name") && c.object.Schema == SchemaDeprecations:
				c.report(Warning, RuleDeprecationName, "it has a name; deprecations are named by their package alone", "remove name")
			case strings.EqualFold(m.key, "properties") && c.object.Schema != SchemaBundle:
				c.warnProperties(m.value)
			}
		}
	}
	return object
}

// into decodes the whole text. Of equal keys the last one alone counts, which
// holds for the canonical text only: lists would be merged otherwise.
func into[T any](c *content, object *T) any {
	if err := json.Unmarshal(rawjson.AppendCanonical(nil, c.text), object); err != nil {
		c.report(Error, RuleFieldType, typeMessage("", err), "write the field as the schema demands")
		return nil
	}
	return object
}

// canonical sorts the keys in the values of properties.
func canonical(properties []Property) {
	for i, p := range properties {
		properties[i].Value = rawjson.AppendCanonical(nil, p.Value)
	}
}

func (c *content) report(severity Severity, rule Rule, message, fix string) {
	c.problems = append(c.problems, Problem{Severity: severity, Rule: rule, Object: c.object, Message: message, Fix: fix})
}

func (c *content) failItems(key string) {
	c.report(Error, RuleLimit, fmt.Sprintf("%q has more than %d items", key, c.limits.Items), "split the object, or raise the limit on items")
}

// typeMessage says in the terms of JSON why a value could not be decoded; within names the field that was decoded, if it was not the whole object.
func typeMessage(within string, err error) string {
	field := strings.Trim(within, ".")
	var corrupt base64.CorruptInputError
	if errors.As(err, &corrupt) {
		return fmt.Sprintf("\"icon.base64data\" is not base64: %v", err) // no other field is
	}
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		if field == "" {
			return fmt.Sprintf("the value cannot be read: %v", err)
		}
		return fmt.Sprintf("%q cannot be read: %v", field, err)
	}
	what := "the value"
	if field = strings.Trim(within+"."+mismatch.Field, "."); field != "" {
		what = strconv.Quote(field)
	}
	kinds := map[string]string{"array": "list", "bool": "boolean"}
	found, _, _ := strings.Cut(mismatch.Value, " ")
	desired := "object"
	switch t := mismatch.Type; { // one of those of the fields in the types of this package
	case t.Kind() == reflect.String:
		desired = "string"
	case t == reflect.TypeFor[[]byte]():
		desired = "string in base64"
	case t.Kind() == reflect.Slice:
		desired = "list"
	}
	return fmt.Sprintf("%s is %s, not %s", what, article(cmp.Or(kinds[found], found)), article(desired))
}

// article puts "a" or "an" before what rawjson.Kind returns.
func article(kind string) string {
	switch kind {
	case "null":
		return kind
	case "object":
		return "an " + kind
	}
	return "a " + kind
}

// warnProperties warns about properties that are not a list of objects with type
// and value.
func (c *content) warnProperties(list []byte) {
	const fix = "write a list of objects with type and value, or remove it"
	if kind := rawjson.Kind(list); kind != "list" {
		c.report(Warning, RuleObjectProperty, fmt.Sprintf("\"properties\" is %s, not a list", article(kind)), fix)
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
		c.report(Warning, RuleObjectProperty, strings.Join(notes, ", "), fix)
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
