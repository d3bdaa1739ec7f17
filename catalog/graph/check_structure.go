package graph

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// structure reports what makes v0 leave a channel out, and entries that count
// for no one.
func (k *checker) structure(c *channel) {
	g := &c.chain
	v0 := func(rule catalog.Rule, message, fix string) {
		k.report(catalog.Error, rule, onlyV0, c, message, fix)
	}
	const left = "; v0 leaves the channel out"
	switch {
	case c.repeated:
		v0(catalog.RuleChannelDuplicate, c.refusal+left, "merge them")
	case c.nameless:
		v0(catalog.RuleEntryName, c.refusal+left, "name a bundle")
	case len(g.repeated) > 0:
		v0(catalog.RuleEntryDuplicate, c.refusal+left, "merge the entries of one name")
	case len(c.entries) == 0:
		v0(catalog.RuleChannelEmpty, c.refusal+left, "add entries, or remove the channel")
	case len(g.heads) != 1:
		v0(catalog.RuleChannelHead, c.refusal+left, "let the newest entry, and no other, be neither replaced nor skipped")
	case g.cycle != nil:
		v0(catalog.RuleChannelCycle, c.refusal+left, "remove one of the replaces of "+safetext.QuoteList(names(g.cycle)))
	case len(g.stranded) > 0:
		v0(catalog.RuleChannelStranded, c.refusal+left, "let an entry of the chain replace or skip each of them")
	}
	// Report what more than one entry replaces, unless at most one of these counts because the others are skipped.
	by := map[*node][]*entry{}
	var order []*node
	for _, e := range c.entries {
		if e.replaces == nil || e.replaces == e.node || c.chain.skipped[e.node] != nil {
			continue
		}
		switch before := by[e.replaces]; {
		case before == nil:
			order = append(order, e.replaces)
		case before[len(before)-1].node == e.node:
			continue // there is an entry of the name already
		}
		by[e.replaces] = append(by[e.replaces], e)
	}
	for _, v := range order {
		if len(by[v]) > 1 {
			k.report(catalog.Error, RuleReplacedTwice, onlyV0, c,
				fmt.Sprintf("%s all replace %s, so there is no single chain", safetext.QuoteList(names(by[v])), safetext.Quote(v.name)),
				"let one of them replace another one, or skip it")
		}
	}
	var without []string
	seen := map[*node]bool{}
	for _, e := range c.entries {
		if e.node.bundle == nil && !seen[e.node] {
			without = append(without, e.node.name)
		}
		seen[e.node] = true
		if e.badRange != nil {
			k.report(catalog.Error, catalog.RuleEntrySkipRange, both, c, fmt.Sprintf("the skipRange of entry %s counts for nothing: %v", safetext.Quote(e.node.name), e.badRange), "write a range such as \">=1.0.0 <1.2.0\"")
		}
	}
	if slices.Sort(without); len(without) > 0 {
		k.report(catalog.Error, catalog.RuleEntryWithoutBundle, both, c, "nothing can upgrade to entries without a bundle: "+safetext.QuoteList(without), "add the bundles, or remove the entries")
	}
}

// edges reports edges that lead from what the channel does not have.
func (k *checker) edges(c *channel) {
	here := make(map[*node]bool, len(c.entries))
	for _, e := range c.entries {
		here[e.node] = true
	}
	seen := map[*node]bool{}
	var nowhere, outside, self []string
	for _, e := range c.entries {
		for _, v := range e.named() {
			switch {
			case v == e.node:
				self = append(self, v.name)
			case here[v] || seen[v]:
				continue
			case v.bundle == nil && len(v.entries) == 0:
				if right := k.misnamed(v); right != "" {
					k.report(catalog.Warning, RuleEdgeMisnamed, both, c, fmt.Sprintf("entry %s names %s, which does not exist; the bundle of that version is %s", safetext.Quote(e.node.name), safetext.Quote(v.name), safetext.Quote(right)), "correct the name")
				} else {
					nowhere = append(nowhere, v.name)
				}
			default:
				outside = append(outside, v.name)
			}
			seen[v] = true
		}
	}
	if len(self) > 0 {
		k.report(catalog.Warning, RuleEdgeSelf, both, c, "these entries replace or skip themselves: "+safetext.QuoteList(self), "remove these edges")
	}
	if len(nowhere) > 0 {
		k.report(Info, RuleEdgeNowhere, both, c, "entries replace or skip what the package does not have: "+safetext.QuoteList(nowhere), "none is needed if these were removed on purpose; those who have them installed go on from there")
	}
	if len(outside) > 0 {
		k.report(Info, RuleEdgeOutside, both, c, "entries replace or skip what only other channels have: "+safetext.QuoteList(outside), "none is needed; those who change to this channel go on from there")
	}
}

// named are the versions that an entry names.
func (e *entry) named() []*node {
	if e.replaces == nil {
		return e.skips
	}
	return append([]*node{e.replaces}, e.skips...)
}

// misnamed finds the bundle that was probably meant by a name that does not
// exist: one whose name differs from it only in what people get wrong.
func (k *checker) misnamed(v *node) string {
	stem, wanted, ok := splitName(v.name)
	if !ok {
		return ""
	}
	if k.byVersion == nil {
		k.byVersion = map[string][]*node{}
		for _, other := range k.network.order {
			if other.bundle != nil && other.known {
				key := other.version.String()
				k.byVersion[key] = append(k.byVersion[key], other)
			}
		}
	}
	for _, other := range k.byVersion[wanted.String()] {
		found, _, ok := splitName(other.name)
		if ok && (stem == "" || separators.Replace(strings.ToLower(stem)) == separators.Replace(strings.ToLower(found))) {
			return other.name
		}
	}
	return ""
}

// separators are what people get wrong in a name, beside capitals.
var separators = strings.NewReplacer("-", "", "_", "", ".", "")
