package plan

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
)

// stranded says that nothing leads from what is installed to the channel head; empty when it is the head, or when there is no catalog to
// tell.
func stranded(r *request) string {
	if len(r.channels) == 0 {
		return r.waits
	}
	if headsAre(r.channels, r.installed.Name) {
		return ""
	}
	return fmt.Sprintf("no entry of channel %s of package %s upgrades from the installed %s: none replaces or skips it, and no skipRange of a newer one contains its version %s",
		strings.Join(channelNames(r.channels), ", "), r.sub.Package, r.installed.Name, r.installed.Version)
}

func headsAre(channels []*catalog.ChannelInfo, name string) bool {
	return slices.ContainsFunc(channels, func(c *catalog.ChannelInfo) bool { return c.Head == name })
}

// noPath tells in full that a Subscription is stranded, and the ways on, those first that leave the operator running; nil when it is not.
func (b *builder) noPath(r *request) *Conflict {
	if r.installed == nil || len(r.channels) == 0 || r.waits == "" || r.waits != stranded(r) {
		return nil
	}
	self, head := b.node(r.self), r.channels[0].Head
	link := func(field, format string, args ...any) Link {
		o := self.origin(field, format, args...)
		return Link{Text: o.Text, Object: o.Object, Field: o.Field, Catalog: o.Catalog, Digest: o.Digest}
	}
	what := fmt.Sprintf("the head of channel %s is %s", r.channels[0].Name, head)
	c := &Conflict{wanted: head, Summary: r.waits + "; " + what, Chain: []Link{
		{Text: fmt.Sprintf("subscription %s has %s installed", r.sub.Name, r.installed.Name), Object: "Subscription " + r.sub.Name, Field: fieldInstalled},
		link(fieldChannel, "%s", r.waits),
		link(fieldChannel, "%s", what),
	}}
	if !b.in.trial {
		c.Advice = b.waysOn(r)
	}
	return c
}

// waysOn says how a stranded Subscription gets on. Each way was tried.
func (b *builder) waysOn(r *request) string {
	ways := b.otherChannels(r, func(c *catalog.ChannelInfo) bool {
		return c.Head == r.installed.Name || slices.ContainsFunc(c.Entries, func(e *catalog.EntryInfo) bool { return e.EdgeFrom(r.departure()) != catalog.NoEdge })
	}, func(g *Group, c *Choice) bool { return c != nil || len(g.Held) == 0 })
	ways = append(ways, fmt.Sprintf("ask the authors of catalog %s for an entry that replaces or skips %s", r.sub.Catalog, r.installed.Name))
	if way := b.startAnew(r); way != "" {
		ways = append(ways, way)
	}
	return strings.Join(ways, "; or ")
}

// startAnew says how to get the head of the channel without an upgrade, and what that costs. That the operator is deleted alone brings
// nothing: while its plan exists, its Subscription is left alone.
func (b *builder) startAnew(r *request) string {
	_, chosen := b.try(r.sub.Name, func(in *Input) {
		for i := range in.Subscriptions {
			if s := &in.Subscriptions[i]; s.Name == r.sub.Name {
				s.Installed, s.StartingCSV = "", ""
			}
		}
		in.Operators = slices.DeleteFunc(in.Operators, func(o Operator) bool { return o.Name == r.installed.Name })
	})
	if chosen == nil || chosen.Bundle.Name == r.installed.Name {
		return ""
	}
	without, older := "", ""
	if r.sub.StartingCSV != "" {
		without = " without spec.startingCSV"
	}
	if chosen.Bundle.Version.Version.LT(r.installed.Version) {
		older = fmt.Sprintf(", and %s is older than %s and may not be able to read what that has stored", chosen.Bundle.Name, r.installed.Name)
	}
	return fmt.Sprintf("delete Subscription %s and ClusterServiceVersion %s, then create the Subscription again%s, which installs %s anew: the operator does not run meanwhile%s",
		r.sub.Name, r.installed.Name, without, chosen.Bundle.Name, older)
}
