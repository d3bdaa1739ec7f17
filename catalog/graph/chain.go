package graph

import (
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
)

// chain is what v0 makes of a channel: the entries from the head down along
// replaces. It ends where an entry replaces one that is skipped or not in the
// channel.
type chain struct {
	heads    []*entry // that no entry replaces or skips, by name
	line     []*entry // from the head down; empty without a single head
	cycle    []*entry // line, when it comes back to an entry of it
	back     *entry   // that entry
	stranded []*entry // neither on the line nor skipped, by name
	repeated []*entry // those beyond the first of a name
	skipped  map[*node]*entry
}

func newChain(c *channel) chain {
	g := chain{skipped: map[*node]*entry{}}
	byNode := make(map[*node]*entry, len(c.entries))
	replaced := make(map[*node]bool, len(c.entries))
	for _, e := range c.entries {
		if byNode[e.node] != nil {
			g.repeated = append(g.repeated, e)
		} else {
			byNode[e.node] = e
		}
		if e.replaces != nil {
			replaced[e.replaces] = true
		}
		for _, s := range e.skips {
			if g.skipped[s] == nil {
				g.skipped[s] = e
			}
		}
	}
	for v, e := range byNode {
		if !replaced[v] && g.skipped[v] == nil {
			g.heads = append(g.heads, e)
		}
	}
	byName(g.heads)
	if len(g.heads) != 1 {
		return g
	}
	reached := map[*entry]bool{}
	for e := g.heads[0]; e != nil; {
		if reached[e] {
			g.cycle, g.back = g.line, e
			return g
		}
		reached[e], e.onLine = true, true
		g.line = append(g.line, e)
		next := e.replaces
		if next == nil || g.skipped[next] != nil {
			break
		}
		e = byNode[next]
	}
	for v, e := range byNode {
		if !reached[e] && g.skipped[v] == nil {
			g.stranded = append(g.stranded, e)
		}
	}
	byName(g.stranded)
	return g
}

func byName(entries []*entry) {
	slices.SortFunc(entries, func(a, b *entry) int { return strings.Compare(a.node.name, b.node.name) })
}

// refuse says why v0 leaves the whole channel out; empty when it does not.
func (c *channel) refuse() string {
	g := &c.chain
	switch {
	case c.repeated:
		return "there is more than one channel of this name"
	case c.nameless:
		return "an entry has no name"
	case len(g.repeated) > 0:
		return "entry " + safetext.Quote(g.repeated[0].node.name) + " occurs more than once"
	case len(c.entries) == 0:
		return "it has no entries"
	case len(g.heads) == 0:
		return "it has no head: every entry is replaced or skipped by another one"
	case len(g.heads) > 1:
		return "it has more than one head: " + safetext.QuoteList(names(g.heads))
	case g.cycle != nil:
		return fmt.Sprintf("its replaces chain comes back to %s", safetext.Quote(g.back.node.name))
	case len(g.stranded) > 0:
		return "no chain of replaces or skips leads from the head to " + safetext.QuoteList(names(g.stranded))
	}
	return ""
}

// offered tells whether v0 may install the entry.
func (e *entry) offered() bool {
	return e.channel.refusal == "" && e.onLine && e.node.usable && !e.node.forbidden
}

// head is what v0 wants to come to, nil when the channel is refused.
func (c *channel) head() *node {
	if c.refusal != "" {
		return nil
	}
	for _, e := range c.chain.line {
		if e.node.usable {
			return e.node
		}
	}
	return nil
}

// newest is what v1 wants to come to, nil when nothing can be installed.
func (c *channel) newest() *node {
	var best *node
	for _, e := range c.entries {
		if e.node.usable && (best == nil || best.compare(e.node) < 0) {
			best = e.node
		}
	}
	return best
}
