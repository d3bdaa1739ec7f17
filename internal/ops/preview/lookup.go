package preview

import (
	"slices"

	"fairlead.dev/fairlead/internal/resolution"
)

// packageOf is the package that a name means, as far as the catalogs in view tell.
func (p *Preview) packageOf(name string) string {
	for _, sub := range p.input.Subscriptions {
		if sub.Name == name {
			return sub.Package
		}
	}
	for _, s := range p.observed.Sources {
		if b := bundleIn(s, name); b != nil {
			return b.Package
		}
	}
	return name
}

// standsFor tells whether a Subscription of a group has an operator installed.
func (p *Preview) standsFor(g *resolution.Group, operator string) bool {
	return slices.ContainsFunc(g.Subscriptions, func(name string) bool { return g.Installed[name] == operator })
}

// operatorOf is the operator that a name means: that of a ClusterServiceVersion, or what a package or Subscription has or gets.
func (p *Preview) operatorOf(name string) string {
	if p.observed.Operator(name) != nil {
		return name
	}
	found := name
	for _, o := range p.input.Operators {
		if o.Package == name {
			found = o.Name
		}
	}
	for _, g := range p.result.Groups {
		if installed := g.Installed[name]; installed != "" {
			found = installed
		}
	}
	for _, g := range p.result.Groups {
		for _, c := range g.Choices {
			if c.Bundle.Package == name || slices.Contains(c.Subscriptions, name) {
				found = c.Bundle.Name
			}
		}
	}
	return found
}
