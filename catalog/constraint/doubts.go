package constraint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
)

// Owner is the bundle that has a constraint.
type Owner struct {
	Package    string
	Version    semver.Version
	Provides   []catalog.GVK
	Properties []catalog.Property
}

// OwnerOf describes a bundle by its properties. What cannot be read of them counts for nothing.
func OwnerOf(pkg string, properties []catalog.Property) Owner {
	o := Owner{Package: pkg, Properties: properties}
	for _, p := range properties {
		switch p.Type {
		case catalog.PropertyGVK:
			var gvk catalog.GVK
			if json.Unmarshal(p.Value, &gvk) == nil {
				o.Provides = append(o.Provides, gvk)
			}
		case catalog.PropertyPackage:
			var own struct{ Version string }
			if json.Unmarshal(p.Value, &own) == nil {
				if v, err := version.ParseTolerant(own.Version); err == nil {
					o.Version = v
				}
			}
		}
	}
	return o
}

// Doubts are what is accepted of a constraint although its author probably means something else: forms that other tools refuse, lists
// without content, and what the bundle meets itself, so that it asks nothing of others.
func (c *Constraint) Doubts(of Owner) []Doubt {
	return append(slices.Clone(c.doubts), c.selfMet(of, "", false)...)
}

// selfMet finds what the owner meets itself. unwanted is true inside an odd number of nots, which are about other operators.
func (c *Constraint) selfMet(of Owner, place string, unwanted bool) []Doubt {
	var found []Doubt
	for _, list := range []struct {
		kind  string
		parts []Constraint
	}{{kindAll, c.All}, {kindAny, c.Any}, {kindNot, c.Not}} {
		for i := range list.parts {
			found = append(found, list.parts[i].selfMet(of, inside(place, list.kind, i), unwanted != (list.kind == kindNot))...)
		}
	}
	if !unwanted && c.isMetBy(of) {
		found = append(found, Doubt{Place: place, Text: "the bundle meets it itself, so it asks nothing of other operators",
			Fix: "remove it, or ask for something that only another operator has"})
	}
	return found
}

// isMetBy reports whether a bundle alone meets a constraint without parts.
func (c *Constraint) isMetBy(b Owner) bool {
	switch {
	case c.GVK != nil:
		return slices.Contains(b.Provides, *c.GVK)
	case c.Package != nil:
		return c.Package.Name == b.Package && c.Package.Range.Contains(b.Version)
	case c.CEL != nil:
		return c.CEL.Meets(b.Properties)
	}
	return false
}

// DoubtsOf are those of a property that says what its bundle needs: an olm.constraint or an olm.package.required. What cannot be read, and any
// other property, has none.
func DoubtsOf(need catalog.Property, of Owner) []Doubt {
	switch need.Type {
	case catalog.PropertyConstraint:
		if c, err := Parse(need.Value); err == nil {
			return c.Doubts(of)
		}
	case catalog.PropertyPackageRequired:
		// Dependencies of bundles have the range under version, properties of catalogs under versionRange.
		var w struct{ PackageName, Version, VersionRange string }
		if json.Unmarshal(need.Value, &w) != nil {
			return nil
		}
		if r, err := version.ParseRange(cmp.Or(w.VersionRange, w.Version)); err == nil {
			p := Package{Name: w.PackageName, Range: r}
			switch c := (Constraint{Package: &p}); {
			case c.isMetBy(of):
				return c.selfMet(of, "", false)
			case p.Name == of.Package:
				return []Doubt{{Text: fmt.Sprintf("the bundle requires its own package %s in another version than its own, %s, and a namespace has only one version of a package, so it can never be installed", p.Name, of.Version),
					Fix: "remove it; versions that the bundle upgrades from belong into its channel"}}
			}
			return nil
		}
	}
	return nil
}
