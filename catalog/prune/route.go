package prune

import (
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/catalog/safetext"
)

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
		// Keep the entry that a hop leads to.
		pkg := r.pkg
		reason := "on the way from what is installed, " + safetext.Quote(r.version.Name) + ", to " + safetext.Quote(head)
		c := pkg.channels[hop.Edges[0].Channel]
		if c.keeps(hop.To.Name) && !c.incidental {
			continue
		}
		c.why.add("leads on from what is installed")
		if place, ok := c.place[hop.To.Name]; ok {
			p.extend(pkg, c, place, reason)
			continue
		}
		c.ask(hop.To.Name, reason, true)
		p.support(pkg, c, hop.To.Name)
		p.touched = append(p.touched, touched{pkg, c})
	}
	return len(hops) > 0 || r.version.Name == head
}
