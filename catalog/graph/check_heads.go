package graph

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// heads reports what is wrong with where a channel leads.
func (k *checker) heads(c *channel) {
	nodes := c.bundles()
	hops := scopeOf(c).hopsV1(nodes, byDeprecation)
	by := map[*node][]*node{}
	var order []*node
	for i, v := range hops.sources {
		if e := hops.next[i]; e != nil && c.chain.skipped[e.node] != nil && c.chain.skipped[e.node].node != e.node {
			if by[e.node] == nil {
				order = append(order, e.node)
			}
			by[e.node] = append(by[e.node], v)
		}
	}
	for _, v := range order {
		k.report(Info, RuleSkippedTaken, onlyV1, c, fmt.Sprintf("v1 upgrades %s to %s, although %s skips it", safetext.QuoteList(sorted(by[v])), safetext.Quote(v.name), safetext.Quote(c.chain.skipped[v].node.name)), fmt.Sprintf("let %s replace or skip them, too, if no cluster is to upgrade to %s", safetext.Quote(c.chain.skipped[v].node.name), safetext.Quote(v.name)))
	}
	head := c.top()
	if head == nil {
		return
	}
	switch {
	case head.forbidden:
		k.report(catalog.Error, RuleHeadDeprecated, onlyV0, c, fmt.Sprintf("the head %s has the property olm.deprecated; v0 never installs it", safetext.Quote(head.name)), "remove the property, or publish a newer version")
	case head.deprecation != "" && c.deprecation == "" && k.network.deprecation == "":
		k.report(catalog.Warning, RuleHeadDeprecated, both, c, fmt.Sprintf("the head %s is deprecated, but not the channel; v0 installs it, v1 rather stays at what is not deprecated", safetext.Quote(head.name)), "publish a newer version, or deprecate the channel, too")
	}
	// A channel whose only installable version is a head that succeeds older ones by its skipRange, or skips all the others.
	if only := c.chain.line; c.refusal == "" && len(only) == 1 && (len(c.entries) > 1 || !only[0].skipRange.IsZero()) {
		why := "it skips all other entries"
		if len(c.entries) == 1 {
			why = fmt.Sprintf("the skipRange %s of the head stands alone", safetext.Quote(only[0].skipRange.String()))
		}
		k.report(Info, RuleHistoryWiped, onlyV0, c,
			fmt.Sprintf("only %s can be installed: %s, so there is no older version to start from or to fall back to", safetext.Quote(only[0].node.name), why),
			"keep the older entries, and let each replace the one before it")
	}
	k.headUnreachable(c, head)
}

// headUnreachable reports a head that no other version of the package leads to.
// If it has edges, from what the catalog does not have any more, that is as it
// should be in a catalog that was cut down.
func (k *checker) headUnreachable(c *channel, head *node) {
	var older []*node
	for _, v := range k.sorted() {
		if v != head && v.version.Compare(head.version) < 0 {
			older = append(older, v)
		}
	}
	if len(older) == 0 {
		return
	}
	for _, e := range c.entries {
		if e.node != head {
			continue
		}
		if slices.ContainsFunc(e.named(), func(v *node) bool { return v.bundle != nil && v != head }) {
			return
		}
		covered := false
		spans(k.sorted(), e.skipRange, func(from, to int) { covered = covered || to-from > 1 || k.sorted()[from] != head })
		if covered {
			return
		}
	}
	severity := Info
	if c.standard && !slices.ContainsFunc(c.entries, func(e *entry) bool { return e.node == head && (len(e.named()) > 0 || !e.skipRange.IsZero()) }) {
		severity = catalog.Warning
	}
	k.report(severity, RuleHeadUnreachable, both, c, fmt.Sprintf("no other version of the package upgrades to the head %s", safetext.Quote(head.name)),
		"let it replace or skip older versions such as "+safetext.QuoteList(sorted(older)[:1])+", unless the channel is meant to stand apart")
}

// sorted are the bundles with a known version, ascending.
func (k *checker) sorted() []*node {
	if k.ascending == nil {
		for _, v := range k.network.order {
			if v.usable {
				k.ascending = append(k.ascending, v)
			}
		}
		slices.SortFunc(k.ascending, (*node).compare)
	}
	return k.ascending
}
