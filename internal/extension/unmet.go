package extension

import (
	"cmp"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// maxUnmet is how many needs are told of.
const maxUnmet = 10

// Unmet says what the installed bundle requires that no other extension has installed, as after one of them was removed. It decides nothing:
// what is installed stays. Needs that cannot be read, or are too dear to look into, are left out.
func Unmet(in Request) []string {
	if in.Installed == nil || !slices.ContainsFunc(in.Installed.Properties, IsNeed) {
		return nil
	}
	b := &builder{in: in.canonical(), name: cmp.Or(in.Name, unnamed(in.Package, 0)), rules: map[string]readConstraint{}}
	b.facts()
	var all []string
	for _, n := range b.needsOf(b.own) {
		if n.err != nil || b.holds(n.what, b.besides(in.Package)) || b.unknown(n.what) || b.spent() {
			continue
		}
		all = append(all, fmt.Sprintf("%s, which is installed, requires %s, and what other ClusterExtensions have installed does not meet that", in.Installed.Name, describe(n.what)))
	}
	if more := len(all) - maxUnmet; more > 0 {
		all = append(all[:maxUnmet], fmt.Sprintf("and %d more of its needs are not met", more))
	}
	return all
}

// IsNeed tells whether a property is one of those that needsOf reads.
func IsNeed(p catalog.Property) bool {
	switch p.Type {
	case catalog.PropertyGVKRequired, catalog.PropertyPackageRequired, catalog.PropertyLabelRequired, catalog.PropertyConstraint:
		return true
	}
	return false
}
