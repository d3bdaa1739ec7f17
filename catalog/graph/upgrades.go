package graph

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

// Upgrades are all that a package allows under one of the APIs, whatever the resolver prefers among them: which of two upgrades a cluster made depends
// on what the catalog had on the day.
type Upgrades struct {
	Package   string
	Semantics Semantics
	Versions  []Version // the oldest first
	Hops      []Hop     // by where they lead to and where they come from, both in the order of the versions
}

// Version is a version of a package, in a channel or named by an edge.
type Version struct {
	Stop
	Channels []string // those that offer it; none where it is only upgraded from
	Listed   bool     // in a channel
	Bundle   bool     // the catalog has the bundle
	Withheld string   // why no channel offers it, where it is listed
	Position catalog.Position
}

// UpgradesOf lists the upgrades of a package. Those of v1 lead to a higher version: anything else is only made for who asks for that very version.
func UpgradesOf(c *catalog.Catalog, pkg string, semantics Semantics) (*Upgrades, error) {
	n := find(c, pkg)
	if n == nil {
		return nil, fmt.Errorf("list the upgrades of package %s: the catalog has no such package; correct the name", safetext.Quote(pkg))
	}
	nodes := slices.Clone(n.order)
	slices.SortStableFunc(nodes, (*node).compare)
	ascending := slices.DeleteFunc(slices.Clone(nodes), func(v *node) bool { return !v.known })
	u, s := &Upgrades{Package: pkg, Semantics: semantics}, scopeOf(n.channels...)
	edges, w := s.edgesV1, &walk{network: n, scope: s}
	if semantics == V0 {
		edges = s.edgesV0
	}
	for _, to := range nodes {
		version := Version{Stop: to.stop(), Listed: len(to.entries) > 0, Bundle: to.bundle != nil}
		if to.bundle != nil {
			version.Position = to.bundle.Position
		}
		sources := map[*node]bool{}
		for _, e := range to.entries {
			if semantics == V0 && !e.offered() || !to.usable {
				continue
			}
			version.Channels = append(version.Channels, e.channel.name)
			for _, v := range e.named() {
				sources[v] = true
			}
			spans(ascending, e.skipRange, func(first, end int) {
				for _, v := range ascending[first:end] {
					sources[v] = true
				}
			})
		}
		if version.Listed && len(version.Channels) == 0 {
			version.Withheld = w.why(to, semantics)
		}
		slices.Sort(version.Channels)
		version.Channels = slices.Compact(version.Channels)
		u.Versions = append(u.Versions, version)
		for _, from := range nodes {
			if !sources[from] || semantics == V1 && from.known && from.version.Compare(to.version) >= 0 {
				continue
			}
			if found := edges(from, to); len(found) > 0 {
				u.Hops = append(u.Hops, Hop{From: from.stop(), To: to.stop(), Edges: found})
			}
		}
	}
	return u, nil
}

// why says why no channel offers a version that is listed.
func (w *walk) why(v *node, semantics Semantics) string {
	if semantics == V0 && v.usable {
		for _, e := range v.entries {
			if e.channel.refusal != "" {
				return fmt.Sprintf("v0 leaves out channel %s: %s", safetext.Quote(e.channel.name), e.channel.refusal)
			}
		}
		return "v0 never installs it: " + w.withheld(v)
	}
	return w.withheld(v)
}
