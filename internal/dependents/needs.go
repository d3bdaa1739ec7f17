package dependents

import (
	"encoding/json"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/resolution"
)

// Properties reads those of a bundle.
func Properties(text string) (all []catalog.Property, err error) {
	err = json.Unmarshal([]byte(text), &all)
	return all, err
}

// Needs tells whether properties may ask for a package, or for an API that its bundle has. Where that is not sure, they do: to keep what
// nobody needs is better than to remove what somebody does.
func Needs(properties []catalog.Property, pkg string, what *resolution.Installed) bool {
	for _, p := range properties {
		switch text := string(p.Value); p.Type {
		case catalog.PropertyPackageRequired:
			var required struct{ PackageName string }
			if json.Unmarshal(p.Value, &required) != nil || required.PackageName == pkg {
				return true
			}
		case "olm.label.required": // any bundle may have the label
			return true
		case catalog.PropertyGVKRequired, catalog.PropertyConstraint: // a rule may ask for anything
			if strings.Contains(text, `"`+pkg+`"`) || strings.Contains(text, "rule") || mentions(text, what) {
				return true
			}
		}
	}
	return false
}

// mentions tells whether a text has the kind of an API that a bundle provides, and its group, or may have that: properties that are too
// many are not kept.
func mentions(text string, what *resolution.Installed) bool {
	if what == nil {
		return false
	}
	if len(what.Properties) == 0 {
		return true // nobody knows
	}
	for _, p := range what.Properties {
		var api catalog.GVK
		if p.Type == catalog.PropertyGVK && json.Unmarshal(p.Value, &api) == nil &&
			strings.Contains(text, `"`+api.Kind+`"`) && strings.Contains(text, `"`+api.Group+`"`) {
			return true
		}
	}
	return false
}
