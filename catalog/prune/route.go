package prune

import (
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/catalog/safetext"
)

// keepRoutes keeps the ways of installed versions that follow no channel in
// particular to the head of the default channel, through whatever channels they
// lead. What is in none of the kept channels keeps its ways to all of their
// heads: it may have to go through the channels of several minor versions.
func (p *pruner) keepRoutes() {
	for _, r := range p.residents {
		var targets []string
		for _, c := range r.pkg.stretches {
			isDefault := c.info.Name == r.pkg.defaultChannel && r.Channel == "" && (!r.chosen || !c.incidental)
			if !c.empty() && (isDefault || !r.related && !c.incidental) {
				targets = append(targets, c.head().Name)
			}
		}
		found := r.related
		for _, head := range distinct(targets) {
			found = p.keepRoute(r, head) || found
		}
		for _, c := range r.pkg.stretches {
			if _, listed := c.entries[r.version.Name]; listed && !r.related && !c.empty() {
				p.keepVersionIn(r.pkg, c, r.version) // a channel on the way
			}
		}
		if !found {
			p.note("installed %s is in no kept channel, and no way leads from it to their heads", r.Installed)
		}
	}
}

// keepRoute keeps the ways that the APIs take from an installed version to a
// head, and tells whether there are any.
func (p *pruner) keepRoute(r resident, head string) bool {
	journey, err := graph.Path(p.source, graph.Query{Package: r.Package, From: r.version.Name, To: head})
	if err != nil {
		return false // what is installed is nowhere
	}
	hops := journey.V1.Pinned
	if journey.V1.Reached {
		hops = journey.V1.Hops
	}
	if journey.V0.Reached {
		hops = append(hops[:len(hops):len(hops)], journey.V0.Hops...)
	}
	for _, hop := range hops {
		p.keepHop(r.pkg, hop, "on the way from what is installed, "+safetext.Quote(r.version.Name)+", to "+safetext.Quote(head))
	}
	return len(hops) > 0 || r.version.Name == head
}

// keepHop keeps the entry that a hop leads to.
func (p *pruner) keepHop(pkg *keptPackage, hop graph.Hop, reason string) {
	c := pkg.channels[hop.Edges[0].Channel]
	if c.keeps(hop.To.Name) && !c.incidental {
		return
	}
	c.why.add("leads on from what is installed")
	if place, ok := c.place[hop.To.Name]; ok {
		p.extend(pkg, c, place, reason)
		return
	}
	c.wish(hop.To.Name, reason, true)
	p.support(pkg, c, hop.To.Name)
	p.touched = append(p.touched, touched{pkg, c})
}
