package validate

import (
	"encoding/json"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/version"
)

// The types of dependencies that are no properties with a constant of their own.
const (
	labelType      = "olm.label"
	constraintType = "olm.constraint"
)

// checkNeed reports the faults of a dependency or a property, or else what of the need is accepted and probably not meant.
func checkNeed(r recorder, owner constraint.Owner, rule bundle.Rule, at place, kind string, need catalog.Property, faults []string, fix string) {
	for _, message := range faults {
		r.err(rule, at, fmt.Sprintf("%s: %s", kind, message), fix)
	}
	if len(faults) > 0 {
		return
	}
	for _, d := range constraint.DoubtsOf(need, owner) {
		r.warn(RuleNeed, at, fmt.Sprintf("%s: %s", kind, d), d.Fix)
	}
}

// dependencyFaults says what is wrong with a dependency.
func dependencyFaults(d bundle.Dependency) []string {
	switch d.Type {
	case catalog.PropertyPackage:
		need, err := d.Package()
		if err != nil {
			return []string{err.Error()}
		}
		return packageFaults(need.PackageName, need.Version)
	case catalog.PropertyGVK:
		gvk, err := d.GVK()
		if err != nil {
			return []string{err.Error()}
		}
		return gvkFaults(gvk)
	case labelType:
		var value struct{ Label string }
		if err := json.Unmarshal(d.Value, &value); err != nil {
			return []string{err.Error()}
		}
		return missing("label", value.Label)
	case constraintType:
		return constraintFaults(d.Value)
	}
	return []string{"there is no such type of dependency; use olm.package, olm.gvk, olm.label or olm.constraint"}
}

func missing(what, value string) []string {
	if value == "" {
		return []string{what + " is missing"}
	}
	return nil
}

func packageFaults(name, versions string) []string {
	out := missing("the name of the package", name)
	if versions == "" {
		return append(out, "the range of versions is missing")
	}
	if _, err := version.ParseRange(versions); err != nil {
		out = append(out, err.Error())
	}
	return out
}

func gvkFaults(gvk catalog.GVK) []string {
	return append(append(missing("the group of the API", gvk.Group), missing("the version of the API", gvk.Version)...), missing("the kind of the API", gvk.Kind)...)
}

func constraintFaults(value json.RawMessage) []string {
	c, err := constraint.Parse(value)
	if err != nil {
		return []string{err.Error()}
	}
	return unmeetable(*c)
}

// unmeetable says what keeps a constraint, or a part of it, from ever being met.
func unmeetable(c constraint.Constraint) []string {
	var out []string
	if c.Package != nil {
		out = append(out, missing("the name of the package", c.Package.Name)...)
	}
	if c.GVK != nil {
		out = append(out, gvkFaults(*c.GVK)...)
	}
	for _, part := range slices.Concat(c.All, c.Any, c.Not) {
		out = append(out, unmeetable(part)...)
	}
	return out
}

func propertyFaults(p catalog.Property) []string {
	switch p.Type {
	case constraintType:
		return constraintFaults(p.Value)
	case catalog.PropertyGVK, catalog.PropertyGVKRequired:
		var gvk catalog.GVK
		if err := json.Unmarshal(p.Value, &gvk); err != nil {
			return []string{err.Error()}
		}
		return gvkFaults(gvk)
	case catalog.PropertyPackageRequired:
		var need struct{ PackageName, VersionRange string }
		if err := json.Unmarshal(p.Value, &need); err != nil {
			return []string{err.Error()}
		}
		return packageFaults(need.PackageName, need.VersionRange)
	case catalog.PropertyPackage:
		var own struct{ PackageName, Version string }
		if err := json.Unmarshal(p.Value, &own); err != nil {
			return []string{err.Error()}
		}
		out := missing("the name of the package", own.PackageName)
		if _, err := version.Parse(own.Version); err != nil {
			out = append(out, err.Error())
		}
		return out
	}
	return nil
}
