package clusterextension

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/extension"
	"fairlead.dev/fairlead/internal/revision"
)

// installedBy is what an extension has installed; nil when that is nothing.
func (c *Controller) installedBy(ctx context.Context, ext *olmv1.ClusterExtension) (*extension.Installed, error) {
	all, err := revision.List(ctx, c.client, ext.Name, ext.UID)
	if err != nil {
		return nil, err
	}
	r := sorted(all).installed()
	if r == nil {
		return nil, nil
	}
	is, err := c.installedOf(r)
	if err != nil {
		return &extension.Installed{}, nil // it is there, and nobody knows what it provides
	}
	return is, nil
}

// hasNeeds tells whether an active revision needs something of other extensions, or may.
func (c *Controller) hasNeeds(s *state) bool {
	for i := range s.revisions {
		if r := &s.revisions[i]; active(r) {
			is, err := c.installedOf(r)
			if err != nil || len(is.Properties) == 0 || slices.ContainsFunc(is.Properties, extension.IsNeed) {
				return true // of broken and of too many properties nobody knows
			}
		}
	}
	return false
}

// needs tells whether properties may ask for a package, or for an API that its bundle has. Where that is not sure, they do: to keep what
// nobody needs is better than to remove what somebody does.
func needs(properties []catalog.Property, pkg string, what *extension.Installed) bool {
	for _, p := range properties {
		text := string(p.Value)
		switch p.Type {
		case catalog.PropertyPackageRequired:
			var required struct{ PackageName string }
			if json.Unmarshal(p.Value, &required) != nil || required.PackageName == pkg {
				return true
			}
		case catalog.PropertyGVKRequired, catalog.PropertyConstraint, "olm.label.required":
			if strings.Contains(text, `"`+pkg+`"`) || strings.Contains(text, "rule") || mentions(text, what) || p.Type == "olm.label.required" {
				return true
			}
		}
	}
	return false
}

// mentions tells whether a text has the kind of an API that a bundle provides, and its group, or may have that: properties that are too
// many are not kept.
func mentions(text string, what *extension.Installed) bool {
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
