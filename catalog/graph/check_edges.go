package graph

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// skippedIgnored reports versions from which only an entry would upgrade that
// v0 does not count because it is skipped, and takes these from those left.
func (k *checker) skippedIgnored(c *channel, e *ending, left map[*node]bool) {
	var ignored []*entry
	sources := make([]*node, 0, len(c.entries))
	for _, e := range c.entries {
		sources = append(sources, e.node)
		if e.node.usable && c.chain.skipped[e.node] != nil && !e.offered() {
			ignored = append(ignored, e)
			sources = append(sources, e.named()...)
		}
	}
	if len(ignored) == 0 {
		return
	}
	counts := scopeOf(c).hopsV0(sources)
	would := choose(sources, ignored, olderVersion)
	from := map[*entry][]*node{}
	for i, v := range would.sources {
		if s := would.next[i]; s != nil && counts.from(v) == nil && !e.good[v] {
			from[s] = append(from[s], v)
			delete(left, v)
		}
	}
	for _, s := range ignored {
		if stuck := from[s]; len(stuck) > 0 {
			by := c.chain.skipped[s.node]
			mend := by.node
			if head := c.head(); !by.offered() && head != nil {
				mend = head
			}
			k.report(catalog.Warning, RuleSkippedIgnored, onlyV0, c,
				fmt.Sprintf("%s is the only entry that upgrades from %s, and its edges do not count because %s skips it", safetext.Quote(s.node.name), safetext.QuoteList(sorted(stuck)), safetext.Quote(by.node.name)),
				fmt.Sprintf("let %s replace or skip them, too", safetext.Quote(mend.name)))
		}
	}
}

// turned are the versions that older entries replace or skip, with these.
func (c *channel) turned() map[*node][]*entry {
	found := map[*node][]*entry{}
	for _, e := range c.entries {
		for _, v := range e.named() {
			if v.known && e.node.known && v.version.Compare(e.node.version) > 0 {
				found[v] = append(found[v], e)
			}
		}
	}
	return found
}

// backwards reports edges from newer to older versions.
func (k *checker) backwards(c *channel) {
	turned := c.turned()
	var found []string
	dashed := false
	// The keys in the order of the package.
	nodes := make([]*node, 0, len(turned))
	for v := range turned {
		nodes = append(nodes, v)
	}
	slices.SortFunc(nodes, func(a, b *node) int { return a.order - b.order })
	for _, v := range nodes {
		for _, e := range turned[v] {
			found = append(found, fmt.Sprintf("%s to %s", safetext.Quote(v.name), safetext.Quote(e.node.name)))
			dashed = dashed || len(v.version.Version.Pre) == 0 && len(e.node.version.Version.Pre) > 0 && v.version.Version.FinalizeVersion() == e.node.version.Version.FinalizeVersion()
		}
	}
	fix := "turn the edge round, or publish the older version again under a newer number"
	if dashed {
		fix = "publish it under a newer number: a version with a dash comes before the same one without"
	}
	if len(found) > 0 {
		k.report(catalog.Warning, RuleVersionBack, both, c, "replaces or skips lead from newer to older versions, where v0 follows and v1 stays: "+safetext.List(found, mostReasons, ", "), fix)
	}
	if c.refusal != "" {
		return
	}
	var pairs []string
	hops := choose(c.bundles(), scopeOf(c).offered(), anyVersion)
	for i, v := range hops.sources {
		if e := hops.next[i]; e != nil && e.isBack(v) && len(e.forward(v)) == 0 {
			pairs = append(pairs, fmt.Sprintf("%s to %s by %s", safetext.Quote(v.name), safetext.Quote(e.node.name), safetext.Quote(e.skipRange.String())))
		}
	}
	if len(pairs) > 0 {
		k.report(catalog.Warning, RuleSkipRangeBack, onlyV0, c, "a skipRange contains versions newer than its entry, which other tools take back to it, over and over if an edge leads on from there; here they stay: "+safetext.List(pairs, mostReasons, ", "),
			"end the skipRange below the version of its entry, as in \">=1.0.0 <1.2.0\" for 1.2.0; let the entry skip what is to go back")
	}
}

// mostReasons is how many of several texts a message lists.
const mostReasons = 8
