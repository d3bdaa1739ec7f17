package graph

import (
	"cmp"
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// ending is where the versions of a channel come to under one semantics.
type ending struct {
	semantics Semantics
	hops      *hops
	ends      map[*node]*node
	good      map[*node]bool // where it is good to come to
}

// endings follow the versions of a channel to their ends. Deprecation is left
// aside here: that a resolver waits at a deprecated head is a finding of its own.
func (c *channel) endings() []*ending {
	nodes := c.bundles()
	s := scopeOf(c)
	v1 := &ending{semantics: V1, hops: s.hopsV1(nodes, byVersion), good: map[*node]bool{c.newest(): true, c.head(): true}}
	v1.ends = v1.hops.ends()
	if c.refusal != "" {
		return []*ending{v1}
	}
	v0 := &ending{semantics: V0, hops: s.hopsV0(nodes), good: map[*node]bool{c.head(): true}}
	for _, e := range c.chain.line {
		if e.offered() {
			v0.good[e.node] = true // the first that can be had, if the head cannot
			break
		}
	}
	v0.ends = v0.hops.ends()
	return []*ending{v0, v1}
}

// bundles are the versions of the channel that can be installed.
func (c *channel) bundles() []*node {
	nodes := make([]*node, 0, len(c.entries))
	for _, e := range c.entries {
		if e.node.usable {
			nodes = append(nodes, e.node)
		}
	}
	return nodes
}

// reach reports versions from which no way leads to the head of a channel.
func (k *checker) reach(c *channel, saved map[Semantics]map[*node]bool) {
	stuck := map[Semantics][]*node{}
	turned := c.turned()
	for _, e := range c.endings() {
		left := map[*node]bool{}
		for v, end := range e.ends {
			switch {
			case end == nil || e.good[end]:
			case e.semantics == V1 && len(turned[end]) > 0: // backwards reports it
			default:
				left[v] = true
			}
		}
		// Report versions that upgrades lead back to.
		met := map[*node]bool{}
		for _, v := range e.hops.sources {
			if e.ends[v] != nil || met[v] {
				continue
			}
			way, _ := e.hops.follow(v, goal{})
			known := slices.ContainsFunc(way, func(v *node) bool { return met[v] })
			for _, v := range way {
				met[v] = true
			}
			if known {
				continue // it leads into a loop that is reported
			}
			loop := way[slices.Index(way, way[len(way)-1]):]
			var steps []string
			for i, to := range loop[1:] {
				next := e.hops.from(loop[i])
				edges := next.edges(loop[i])
				if e.semantics == V0 {
					edges = next.forward(loop[i])
				}
				steps = append(steps, fmt.Sprintf("%s to %s by %s", safetext.Quote(loop[i].name), safetext.Quote(to.name), edges[0]))
			}
			k.report(catalog.Error, RuleUpgradeLoop, []Semantics{e.semantics}, c, "upgrades go round without an end: "+safetext.List(steps, mostReasons, ", "),
				"remove the edge that leads to an older version; a skipRange has to end below the version of its entry, as in \">=1.0.0 <1.2.0\" for 1.2.0")
		}
		if e.semantics == V0 {
			k.skippedIgnored(c, e, left)
		}
		k.minorGap(c, e, left, saved[e.semantics])
		for v := range left {
			stuck[e.semantics] = append(stuck[e.semantics], v)
		}
	}
	k.stuck(c, stuck, saved)
}

// minorGap reports minor versions that none of their versions ever leaves, and
// takes these from those that are left.
func (k *checker) minorGap(c *channel, e *ending, left, saved map[*node]bool) {
	type minor struct{ major, minor uint64 }
	of := func(v *node) minor { return minor{v.version.Version.Major, v.version.Version.Minor} }
	members := map[minor][]*node{}
	leaves := map[minor]bool{}
	for v, end := range e.ends {
		members[of(v)] = append(members[of(v)], v)
		if !left[v] || of(end) != of(v) {
			leaves[of(v)] = true
		}
	}
	var minors []minor
	for m := range members {
		minors = append(minors, m)
	}
	slices.SortFunc(minors, func(a, b minor) int { return cmp.Or(cmp.Compare(a.major, b.major), cmp.Compare(a.minor, b.minor)) })
	for i, m := range minors[:max(len(minors)-1, 0)] {
		if leaves[m] {
			continue
		}
		next := minors[i+1]
		severity := catalog.Warning
		if slices.ContainsFunc(members[m], func(v *node) bool { return !saved[v] }) {
			severity = catalog.Error
		}
		k.report(severity, RuleMinorGap, []Semantics{e.semantics}, c,
			fmt.Sprintf("no way leads from %d.%d (%s) to %d.%d or later", m.major, m.minor, safetext.QuoteList(sorted(members[m])), next.major, next.minor),
			fmt.Sprintf("let the first version of %d.%d replace the last one of %d.%d", next.major, next.minor, m.major, m.minor))
		for _, v := range members[m] {
			delete(left, v)
		}
	}
}

// stuck reports what is left, together if it holds for both semantics.
func (k *checker) stuck(c *channel, stuck map[Semantics][]*node, saved map[Semantics]map[*node]bool) {
	in := map[*node]bool{}
	for _, v := range stuck[V1] {
		in[v] = true
	}
	var all, v0 []*node
	for _, v := range stuck[V0] {
		if in[v] {
			all = append(all, v)
			delete(in, v)
		} else {
			v0 = append(v0, v)
		}
	}
	var v1 []*node
	for v := range in {
		v1 = append(v1, v)
	}
	for _, group := range []struct {
		holds []Semantics
		nodes []*node
	}{{both, all}, {onlyV0, v0}, {onlyV1, v1}} {
		var lost, elsewhere []*node
		for _, v := range group.nodes {
			if slices.ContainsFunc(group.holds, func(s Semantics) bool { return !saved[s][v] }) {
				lost = append(lost, v)
			} else {
				elsewhere = append(elsewhere, v)
			}
		}
		const fix = "let the head, or a version that leads there, replace or skip them"
		if len(lost) > 0 {
			k.report(catalog.Error, RuleVersionStuck, group.holds, c, "no way leads to the head of this or any other channel from "+safetext.QuoteList(sorted(lost)), fix)
		}
		if len(elsewhere) > 0 {
			k.report(catalog.Warning, RuleVersionStuck, group.holds, c, "no way in this channel leads to its head from "+safetext.QuoteList(sorted(elsewhere))+", only another channel leads on", fix)
		}
	}
}
