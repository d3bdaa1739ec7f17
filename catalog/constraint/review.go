package constraint

import (
	"fmt"

	"fairlead.dev/fairlead/catalog"
)

// Rules of what the bundles of a catalog need. What breaks them is a warning: nothing is kept out of an index.
const (
	// RuleUnreadable is broken by a constraint that cannot be read, so that its bundle is never chosen.
	RuleUnreadable catalog.Rule = "bundle-constraint"
	// RuleDoubtful is broken by a need that is accepted and probably not meant.
	RuleDoubtful catalog.Rule = "bundle-need-doubtful"
)

// Review reports what is wrong with, or doubtful about, the needs of the bundles of a catalog, in the order of its bundles. catalog.Validate
// reports what breaks the form of properties.
func Review(c *catalog.Catalog) catalog.Problems {
	var found catalog.Problems
	for i := range c.Bundles {
		b := &c.Bundles[i]
		var owner Owner
		for j, p := range b.Properties {
			if p.Type != catalog.PropertyConstraint && p.Type != catalog.PropertyPackageRequired {
				continue
			}
			if owner.Properties == nil {
				owner = OwnerOf(b.Package, b.Properties)
			}
			report := func(rule catalog.Rule, message, fix string) {
				found = append(found, catalog.Problem{Severity: catalog.Warning, Rule: rule, Position: b.Position,
					Object:  catalog.Object{Schema: catalog.SchemaBundle, Package: b.Package, Name: b.Name},
					Message: fmt.Sprintf("property[%d] of type %q: %s", j, p.Type, message), Fix: fix})
			}
			if p.Type == catalog.PropertyConstraint {
				if _, err := Parse(p.Value); err != nil {
					report(RuleUnreadable, fmt.Sprintf("%v, so the bundle is never chosen", err), "correct the constraint")
					continue
				}
			}
			for _, d := range DoubtsOf(p, owner) {
				report(RuleDoubtful, d.String(), d.Fix)
			}
		}
	}
	return found
}
