package resolution

import (
	"errors"
	"fmt"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// NamespaceResult is the decision for a namespace: one Group for each set of Subscriptions that depend on each other. It can be asked why and
// why not.
type NamespaceResult struct {
	Groups []Group

	b     *namespaceFront
	parts []part // solved, in the order of their groups
}

// Group is the decision for Subscriptions that had to be decided together. Either Err is nil and Choices lists what to install
// (nothing, when all is as it should be), or Err says why there is no answer.
type Group struct {
	// Subscriptions are the names of the requests in the group, in order.
	Subscriptions []string
	// Installed names, by Subscription, the operator that it stands for, also when that was adopted just now. A Subscription without
	// operator is not in it.
	Installed map[string]string
	// Choices are the bundles to install, providers before those that need them.
	Choices []Choice
	// Held are the newer or otherwise preferred versions that could not be had, and why.
	Held []Held
	// Catalogs are the digests of the catalogs whose content the decision rests on.
	Catalogs map[catalog.Ref]string
	// Record is what the decision was made on, and its outcome.
	Record NamespaceRecord
	// Err is a *Conflict or a *resolve.BudgetExceeded.
	Err error
}

// Choice is a bundle to install.
type Choice struct {
	Bundle  *catalog.BundleInfo
	Catalog catalog.Ref
	Channel string
	// Replaces is the installed operator that the bundle succeeds; empty for a first installation.
	Replaces string
	// Subscriptions are the requests that the bundle answers; none when it is there because another bundle needs it.
	Subscriptions []string
	// Because is what brought the bundle in, and the rule that preferred it.
	Because Because
	// Deprecations are what the catalog says of the package, the channel and the bundle, as far as they are deprecated.
	Deprecations []string
}

// Because is why something is in the answer.
type Because struct {
	// Asker is what needs it: "subscription x", "bundle x.v1.0.0" or "clusterserviceversion x.v1.0.0"; empty for what is there anyway.
	Asker string `json:"asker,omitempty"`
	// Need is the need that it meets, as a sentence.
	Need string `json:"need"`
	// Rule decided between it and Over, the candidate that comes after it.
	Rule Rule   `json:"rule,omitempty"`
	Over string `json:"over,omitempty"`
}

// Held is something that is preferred to what was chosen in its place, or newer than what stays.
type Held struct {
	// Asker is whose need it is: a Subscription or a bundle, as in Because; empty for a ClusterExtension.
	Asker string `json:"asker,omitempty"`
	// Subscription is the name of the request, when it is one.
	Subscription string `json:"subscription,omitempty"`
	// Wanted is the name of what cannot be had; empty when it cannot be named, as there is no way to anything newer.
	Wanted string `json:"wanted,omitempty"`
	// Instead is the name of what was chosen, or stays, in its place.
	Instead string `json:"instead,omitempty"`
	// Catalog has it, where the request has more than one.
	Catalog string `json:"catalog,omitempty"`
	// Upgrades is after how many more upgrades the upgrade edges lead to it; nothing is in its way then. Zero means that it is blocked.
	Upgrades int `json:"upgrades,omitempty"`
	// Reason tells what holds it back in one sentence; Conflict, if any, in full.
	Reason string `json:"reason"`
	Advice string `json:"advice,omitempty"`
	// Object and Field are the place of the rule that is in the way of a ClusterExtension. Of a Subscription, Field is where it was requested,
	// and empty when it follows from the content of the catalogs.
	Object   string    `json:"object,omitempty"`
	Field    string    `json:"field,omitempty"`
	Conflict *Conflict `json:"conflict,omitempty"`
}

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
func (r *NamespaceResult) Report() Report {
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
	return Conflict{Summary: list("subscription", g.Subscriptions) + " cannot be decided on: " + g.Err.Error(), Chain: []Link{}}
}

// String tells the decision to a person: for each group what is to be installed, and why, what is not installed, or why there is no answer.
func (r *NamespaceResult) String() string {
	var b strings.Builder
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "%s\n", list("subscription", g.Subscriptions))
		for _, c := range g.Choices {
			fmt.Fprintf(&b, "  install %s from channel %s of %s", c.Bundle.Name, c.Channel, c.Catalog)
			if c.Replaces != "" {
				fmt.Fprintf(&b, " replacing %s", c.Replaces)
			}
			if len(c.Subscriptions) > 0 {
				fmt.Fprintf(&b, " for %s", strings.Join(c.Subscriptions, ", "))
			} else {
				b.WriteString(" as a dependency")
			}
			fmt.Fprintf(&b, "\n    %s\n", c.Because.Need)
			for _, deprecation := range c.Deprecations {
				fmt.Fprintf(&b, "    %s\n", oneLine(deprecation))
			}
			if c.Because.Rule != "" {
				fmt.Fprintf(&b, "    %s", c.Because.Rule)
				if c.Because.Over != "" {
					fmt.Fprintf(&b, ": before %s", c.Because.Over)
				}
				b.WriteString("\n")
			}
		}
		for _, h := range g.Held {
			fmt.Fprintf(&b, "  not chosen for %s", h.Asker)
			if h.Wanted != "" {
				fmt.Fprintf(&b, ": %s", h.Wanted)
			}
			if h.Instead != "" {
				fmt.Fprintf(&b, ", in its place %s", h.Instead)
			}
			text := oneLine(h.Reason)
			if h.Conflict != nil {
				text = h.Conflict.Error()
			}
			fmt.Fprintf(&b, "\n    %s\n", strings.ReplaceAll(text, "\n", "\n    "))
		}
		switch {
		case g.Err != nil:
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(g.Err.Error(), "\n", "\n  "))
		case len(g.Choices) == 0:
			b.WriteString("  nothing to do\n")
		}
	}
	return b.String()
}
