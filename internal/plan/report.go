package plan

import "errors"

// Report is a Result for machines: what to install, and what is in the way.
type Report struct {
	Install []Install `json:"install"`
	// Conflict is why there is no answer for the first Subscriptions without one.
	Conflict *Conflict `json:"conflict,omitempty"`
	// More are those of the Subscriptions after them.
	More []Conflict `json:"moreConflicts,omitempty"`
	Held []Held     `json:"held,omitempty"`
}

// Install is a bundle to install.
type Install struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	Channel string `json:"channel"`
	Version string `json:"version"`
	Catalog string `json:"catalog"`
	For     string `json:"for"` // ForSubscription or ForDependency
	// Channels are all that it is in and that are followed, where that may be more than one: for a ClusterExtension.
	Channels []string `json:"channels,omitempty"`
	Replaces string   `json:"replaces,omitempty"`
	// Deprecations are what the catalog says of the package, the channel and the bundle, as far as they are deprecated.
	Deprecations []string `json:"deprecations,omitempty"`
}

// What a bundle is installed for.
const (
	ForSubscription = "subscription"
	ForDependency   = "dependency"
)

// Install is the choice for machines.
func (c Choice) Install() Install {
	out := Install{Name: c.Bundle.Name, Package: c.Bundle.Package, Channel: c.Channel, Version: c.Bundle.VersionText,
		Catalog: c.Catalog.String(), For: ForDependency, Replaces: c.Replaces, Deprecations: c.Deprecations}
	if len(c.Subscriptions) > 0 {
		out.For = ForSubscription
	}
	return out
}

// Report puts the groups together, in their order.
func (r *Result) Report() Report {
	out := Report{Install: []Install{}}
	for i := range r.Groups {
		g := &r.Groups[i]
		for _, c := range g.Choices {
			out.Install = append(out.Install, c.Install())
		}
		out.Held = append(out.Held, g.Held...)
		if g.Err == nil {
			continue
		}
		if c := g.conflict(); out.Conflict == nil {
			out.Conflict = &c
		} else {
			out.More = append(out.More, c)
		}
	}
	return out
}

// conflict is why the group has no answer; that it took too long to find out is told in the same way.
func (g *Group) conflict() Conflict {
	var c *Conflict
	if errors.As(g.Err, &c) {
		return *c
	}
	return Conflict{Summary: listSubscriptions(g.Subscriptions) + " cannot be decided on: " + g.Err.Error(), Chain: []Link{}}
}

func (g *Group) summary() string { return oneLine(g.conflict().Summary) }
