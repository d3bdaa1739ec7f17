package graph

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog/safetext"
)

// withheld says why v0 does not install a version of a sound channel.
func (w *walk) withheld(v *node) string {
	switch {
	case v.bundle == nil:
		return "there is no bundle of that name"
	case !v.usable:
		return "the version of its bundle cannot be read, or it is defined twice"
	case v.forbidden:
		return "it has the property olm.deprecated"
	}
	var by []string
	for _, e := range v.entries {
		if skipping := e.channel.chain.skipped[v]; w.scope.has[e.channel] && skipping != nil {
			by = append(by, fmt.Sprintf("%s skips it in channel %s", skipping.node.name, safetext.Quote(e.channel.name)))
		}
	}
	return safetext.List(by, mostReasons, ", ")
}

// deadEndV0 says why nothing comes after a version.
func (w *walk) deadEndV0(last *node) string {
	for _, c := range w.scope.list {
		if c.head() == last {
			return fmt.Sprintf("%s is the head of channel %s; nothing upgrades from it", last.name, safetext.Quote(c.name))
		}
	}
	reason := fmt.Sprintf("no entry that v0 may install upgrades from %s", last.name)
	for _, c := range w.scope.list {
		for _, e := range c.chain.line {
			if e.offered() && len(e.edges(last)) > 0 { // nothing follows, so it is a way back
				return fmt.Sprintf("%s: the skipRange of %s contains it, but leads back to no older version", reason, e.node.name)
			}
		}
	}
	for _, c := range w.scope.list {
		for _, e := range c.entries {
			if !e.offered() && len(e.edges(last)) > 0 {
				why := c.refusal
				if why == "" {
					why = w.withheld(e.node)
				}
				return fmt.Sprintf("%s: %s does, but does not count: %s", reason, e.node.name, why)
			}
		}
	}
	return reason
}

// deadEndV1 says why nothing is taken after a version.
func (w *walk) deadEndV1(last *node) string {
	var best *node
	for _, c := range w.scope.list {
		for _, e := range c.entries {
			if e.node.usable && len(e.edges(last)) > 0 && (best == nil || byDeprecation(e.node, best) < 0) {
				best = e.node
			}
		}
	}
	switch {
	case best == nil:
		return fmt.Sprintf("no entry of the channels upgrades from %s", last.name)
	case best.deprecation != "" && last.deprecation == "":
		return fmt.Sprintf("%s upgrades from %s but is deprecated, so what is installed is preferred", best.name, last.name)
	}
	return fmt.Sprintf("%s upgrades from %s but is not newer, so what is installed is preferred", best.name, last.name)
}

// missing says which edge would lead from a version to the goal.
func (w *walk) missing(last, to *node) string {
	c := w.scope.first(to).channel
	if last.bundle == nil && w.network.nodes[last.name] == last && last.version.String() == last.name {
		return fmt.Sprintf("give entry %s of channel %s a skipRange that contains %s, or let it skip the bundle of that version", safetext.Quote(to.name), safetext.Quote(c.name), last.name)
	}
	return fmt.Sprintf("add %s to the skips of entry %s of channel %s, or put an entry between them that does", safetext.Quote(last.name), safetext.Quote(to.name), safetext.Quote(c.name))
}

func names(entries []*entry) []string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.node.name
	}
	return all
}

// sorted are the names of versions, the newest first.
func sorted(nodes []*node) []string {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b *node) int { return b.compare(a) })
	all := make([]string, len(nodes))
	for i, v := range nodes {
		all[i] = v.name
	}
	return all
}
