package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// TestUpgradesAreThoseOfTheAPIs compares the list with what is asked pair by pair: under v0 of the entries as Subscriptions are served them.
func TestUpgradesAreThoseOfTheAPIs(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	compared := map[Semantics]int{}
	for range 500 {
		seed := make([]byte, 100)
		for i := range seed {
			seed[i] = byte(random.Uint32())
		}
		g := genes(seed)
		c := randomCatalog(&g)
		x := must.Value(catalog.NewIndex(c, "sha256:0"))(t)
		n := find(c, "p")
		for _, semantics := range []Semantics{V0, V1} {
			listed := map[[2]string][]Edge{}
			for _, hop := range must.Value(UpgradesOf(c, "p", semantics))(t).Hops {
				listed[[2]string{hop.From.Name, hop.To.Name}] = hop.Edges
			}
			for _, from := range n.order {
				for _, to := range n.order {
					edges := listed[[2]string{from.name, to.name}]
					want := wantedV1(n, from, to)
					if semantics == V0 {
						want = wantedV0(x, from, to)
					}
					if (len(edges) > 0) != want {
						t.Errorf("%s, from %s to %s: %v, want %t", semantics, from.name, to.name, edges, want)
					}
					compared[semantics] += len(edges)
				}
			}
		}
	}
	if compared[V0] < 500 || compared[V1] < 5000 {
		t.Errorf("compared only %v", compared)
	}
}

func wantedV0(x *catalog.Index, from, to *node) bool {
	departure := catalog.Departure{Name: from.name}
	if from.known {
		departure.Version = &from.version
	}
	p, ok := x.Package("p")
	return ok && slices.ContainsFunc(p.Channels, func(c *catalog.ChannelInfo) bool {
		e, ok := c.Entry(to.name)
		return ok && !e.Bundle.Deprecated && e.EdgeFrom(departure) != catalog.NoEdge
	})
}

func wantedV1(n *network, from, to *node) bool {
	higher := !from.known || from.version.Compare(to.version) < 0
	return to.usable && higher && slices.ContainsFunc(to.entries, func(e *entry) bool {
		return from != to && (e.replaces == from || slices.Contains(e.skips, from) || from.known && e.skipRange.Contains(from.version.Version))
	})
}
