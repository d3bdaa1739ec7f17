package catalog

import (
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

// graph is what the replaces and skips of a channel's entries amount to.
type graph struct {
	heads    []string        // entries that nothing upgrades from, sorted
	chain    []string        // from the head down along replaces; empty without a single head
	cycle    []string        // the chain with the name it comes back to, if it does
	stranded []string        // entries neither on the chain nor skipped, sorted
	skipped  map[string]bool // names in the skips of any entry
}

func newGraph(entries []Entry) graph {
	g := graph{skipped: map[string]bool{}}
	replaces := make(map[string]string, len(entries))
	replaced := make(map[string]bool, len(entries))
	for _, e := range entries {
		if e.Name == "" {
			continue // reported as such
		}
		replaces[e.Name] = e.Replaces
		replaced[e.Replaces] = true
		for _, skip := range e.Skips {
			g.skipped[skip] = true
		}
	}
	for name := range replaces {
		if !replaced[name] && !g.skipped[name] {
			g.heads = append(g.heads, name)
		}
	}
	slices.Sort(g.heads)
	if len(g.heads) != 1 {
		return g
	}
	// Follow the chain, which ends where an entry replaces one that is skipped or not in the channel.
	reached := map[string]bool{}
	for name, ok := g.heads[0], true; ok; {
		if reached[name] {
			g.cycle = append(slices.Clone(g.chain), name)
			return g
		}
		reached[name] = true
		g.chain = append(g.chain, name)
		next := replaces[name]
		_, ok = replaces[next]
		ok = ok && next != "" && !g.skipped[next]
		name = next
	}
	for name := range replaces {
		if !reached[name] && !g.skipped[name] {
			g.stranded = append(g.stranded, name)
		}
	}
	slices.Sort(g.stranded)
	return g
}

// check reports what is wrong with the graph and tells whether anything is.
func (g *graph) check(report func(Rule, string, string)) (broken bool) {
	switch {
	case len(g.heads) == 0:
		report(RuleChannelHead, "no channel head: every entry is replaced or skipped by another one", "remove an edge, so that the newest entry is neither replaced nor skipped")
	case len(g.heads) > 1:
		report(RuleChannelHead, "multiple channel heads: "+safetext.QuoteList(g.heads), "let the newest entry replace or skip the others, directly or through a chain")
	case g.cycle != nil:
		report(RuleChannelCycle, "the replaces chain comes back to where it was: "+strings.ReplaceAll(safetext.QuoteList(g.cycle), ", ", " -> "), "remove one of these replaces")
	case len(g.stranded) > 0:
		report(RuleChannelStranded, "no way leads from these entries to the channel head: "+safetext.QuoteList(g.stranded), "let another entry replace or skip each of them")
	default:
		return false
	}
	return true
}
