package crd

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
)

// propertyCheck compares one aspect of a property.
type propertyCheck struct {
	name Check
	// changed says what is worse than before; empty is nothing.
	changed func(old, new *props) string
	// clear removes the aspect, so that what is left has been checked by no check.
	clear func(*props)
	// remedy is for the author of the CRD.
	remedy string
}

var propertyChecks = append(boundChecks,
	propertyCheck{Default, changedDefault, func(p *props) { p.Default = nil }, "keep the default, or bring the new one with a new version of the API"},
	propertyCheck{Enum, changedEnum, func(p *props) { p.Enum = nil }, "keep every value that was allowed"},
	propertyCheck{Nullable, changedNullable, func(p *props) { p.Nullable = false }, "leave nullable as it was"},
	propertyCheck{OneOf, changedOneOf, func(p *props) { p.OneOf = nil }, "leave oneOf as it was"},
	propertyCheck{Pattern, changedPattern, func(p *props) { p.Pattern = "" }, "leave the pattern as it was"},
	propertyCheck{Required, changedRequired, func(p *props) { p.Required = nil }, "leave the field optional, or give it a default in a new version of the API"},
	propertyCheck{Type, changedType, func(p *props) { p.Type = "" }, "keep the type, and add another field for the new one"},
)

func changedDefault(old, new *props) string {
	before, after := canonical(old.Default), canonical(new.Default)
	switch {
	case before == after:
		return ""
	case before == "":
		return fmt.Sprintf("default value %s added", short(after))
	case after == "":
		return fmt.Sprintf("default value %s removed", short(before))
	}
	return fmt.Sprintf("default value changed from %s to %s", short(before), short(after))
}

func changedEnum(old, new *props) string {
	before, after := canonicalSet(old.Enum), canonicalSet(new.Enum)
	removed := before.Difference(after)
	switch {
	case len(after) == 0: // everything is allowed now
		return ""
	case len(before) == 0:
		return fmt.Sprintf("enum constraint %s added where every value was allowed", names(after))
	case len(removed) > 0:
		return fmt.Sprintf("values %s removed from those that were allowed", names(removed))
	}
	return ""
}

func changedNullable(old, new *props) string {
	if old.Nullable == new.Nullable {
		return ""
	}
	return fmt.Sprintf("nullable changed from %t to %t", old.Nullable, new.Nullable)
}

func changedOneOf(old, new *props) string {
	before, after := canonicalSchemas(old.OneOf), canonicalSchemas(new.OneOf)
	removed, added := before.Difference(after), after.Difference(before)
	switch {
	case len(before) == 0 && len(after) > 0:
		return fmt.Sprintf("oneOf added with %d sub-schemas where there was none", len(after))
	case len(removed) > 0:
		return fmt.Sprintf("sub-schemas %s removed from oneOf", names(removed))
	case len(added) > 0:
		return fmt.Sprintf("sub-schemas %s added to oneOf", names(added))
	}
	return ""
}

func changedPattern(old, new *props) string {
	switch {
	case old.Pattern == new.Pattern:
		return ""
	case old.Pattern == "":
		return fmt.Sprintf("pattern %q added where there was none", short(new.Pattern))
	case new.Pattern == "":
		return fmt.Sprintf("pattern %q removed", short(old.Pattern))
	}
	return fmt.Sprintf("pattern changed from %q to %q", short(old.Pattern), short(new.Pattern))
}

func changedRequired(old, new *props) string {
	if added := sets.New(new.Required...).Difference(sets.New(old.Required...)); len(added) > 0 {
		return fmt.Sprintf("new required fields %s", names(added))
	}
	return ""
}

func changedType(old, new *props) string {
	if old.Type == new.Type {
		return ""
	}
	return fmt.Sprintf("type changed from %s to %s", cmp.Or(old.Type, "none"), cmp.Or(new.Type, "none"))
}

// changedOtherwise tells what no check has checked: every field of the schema but documentation and those of its parts.
func changedOtherwise(old, new *props) string {
	before, after := remainder(old), remainder(new)
	if equality.Semantic.DeepEqual(before, after) {
		return ""
	}
	left, right := fields(before), fields(after)
	all := maps.Clone(left)
	maps.Copy(all, right)
	var differences []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if left[name] != right[name] {
			differences = append(differences, fmt.Sprintf("%s %s -> %s", name, short(cmp.Or(left[name], "none")), short(cmp.Or(right[name], "none"))))
		}
	}
	if len(differences) == 0 {
		return "" // they differ only in how nothing is written
	}
	return "unhandled changes found (" + strings.Join(differences, "; ") + ")"
}

func remainder(p *props) *props {
	rest := *p
	rest.Properties = nil
	if rest.Items != nil && rest.Items.Schema != nil {
		rest.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &props{}}
	}
	if a := rest.AdditionalProperties; a != nil && a.Schema != nil {
		rest.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: a.Allows, Schema: &props{}}
	}
	rest.Description, rest.Title, rest.Example, rest.ExternalDocs = "", "", nil, nil
	for _, c := range propertyChecks {
		c.clear(&rest)
	}
	return &rest
}

func fields(p *props) map[string]string {
	text, err := json.Marshal(p)
	var raw map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &raw) != nil {
		return map[string]string{"schema": fmt.Sprint(p)}
	}
	out := make(map[string]string, len(raw))
	for name, value := range raw {
		out[name] = string(value)
	}
	return out
}

// boundChecks are those of the limits of numbers, texts, lists and maps. Giving a limit up lets more in, and breaks nothing.
var boundChecks = []propertyCheck{
	bound(Maximum, -1, func(p *props) **float64 { return &p.Maximum }),
	bound(MaxItems, -1, func(p *props) **int64 { return &p.MaxItems }),
	bound(MaxLength, -1, func(p *props) **int64 { return &p.MaxLength }),
	bound(MaxProperties, -1, func(p *props) **int64 { return &p.MaxProperties }),
	bound(Minimum, +1, func(p *props) **float64 { return &p.Minimum }),
	bound(MinItems, +1, func(p *props) **int64 { return &p.MinItems }),
	bound(MinLength, +1, func(p *props) **int64 { return &p.MinLength }),
	bound(MinProperties, +1, func(p *props) **int64 { return &p.MinProperties }),
}

// bound is the check of a limit, which is tighter where it has moved in one direction: as cmp.Compare has it, of the new one with the old one.
func bound[N float64 | int64](name Check, tighter int, field func(*props) **N) propertyCheck {
	verb, moved := "lower", "lowered"
	if tighter > 0 {
		verb, moved = "raise", "raised"
	}
	changed := func(old, new *props) string {
		before, after := *field(old), *field(new)
		switch {
		case after == nil:
			return ""
		case before == nil:
			return fmt.Sprintf("%s constraint %v added where there was none", name, *after)
		case cmp.Compare(*after, *before) == tighter:
			return fmt.Sprintf("%s %s from %v to %v", name, moved, *before, *after)
		}
		return ""
	}
	return propertyCheck{name: name, changed: changed, clear: func(p *props) { *field(p) = nil }, remedy: fmt.Sprintf("do not %s %s", verb, name)}
}
