package graph

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog/safetext"
)

// walk follows versions of a package by themselves.
type walk struct {
	network *network
	scope   scope
	hopsV0  *hops
	hopsV1  *hops
}

func newWalk(n *network, s scope) *walk {
	return &walk{network: n, scope: s, hopsV0: s.hopsV0(n.order), hopsV1: s.hopsV1(n.order, byDeprecation)}
}

func (w *walk) journey(q Query, from *node, to goal) Journey {
	return Journey{Package: w.network.name, Channel: q.Channel, From: from.stop(), To: to.main.stop(), V0: w.v0(from, to), V1: w.v1(from, to)}
}

// follow continues until the goal stops it, nothing is next, or a version comes
// up again, which is then the last of the way. The way begins with from.
func (h *hops) follow(from *node, to goal) (way []*node, loop bool) {
	seen := map[*node]bool{}
	for v := from; ; {
		way = append(way, v)
		if seen[v] {
			return way, true
		}
		seen[v] = true
		next := h.from(v)
		if to.any == nil && v == to.main || next == nil {
			return way, false
		}
		v = next.node
	}
}

func hopsOf(way []*node, edges func(from, to *node) []Edge) []Hop {
	all := make([]Hop, 0, len(way)-1)
	for i, to := range way[1:] {
		all = append(all, Hop{From: way[i].stop(), To: to.stop(), Edges: edges(way[i], to)})
	}
	return all
}

func (w *walk) v0(from *node, g goal) Route {
	way, loop := w.hopsV0.follow(from, g)
	last, to := way[len(way)-1], g.main
	r := Route{Reached: (last == to || g.any[last]) && !loop, Hops: hopsOf(way, w.scope.edgesV0)}
	if r.Reached {
		return r
	}
	passed := passedOver(way, to, w.scope.edgesV0)
	var refused []string // channels with the version that v0 leaves out, and why
	seen := map[*channel]bool{}
	for _, e := range to.entries {
		if w.scope.has[e.channel] && e.channel.refusal != "" && !seen[e.channel] {
			seen[e.channel] = true
			refused = append(refused, fmt.Sprintf("channel %s: %s", safetext.Quote(e.channel.name), e.channel.refusal))
		}
	}
	offered := slices.ContainsFunc(to.entries, func(e *entry) bool { return w.scope.has[e.channel] && e.offered() })
	switch {
	case len(refused) > 0 && !offered:
		r.Reason = "v0 leaves out " + safetext.List(refused, mostReasons, ", ")
		r.Remedy = "correct the channel first"
	case !offered:
		r.Reason = fmt.Sprintf("v0 never installs %s as an upgrade: %s", to.name, w.withheld(to))
		r.Remedy = "go on to the head instead, or put it on the chain of replaces from the head"
	case passed >= 0:
		r.Reason = fmt.Sprintf("at %s, %s is nearer to the head than %s and is taken", way[passed].name, way[passed+1].name, to.name)
		r.Remedy = fmt.Sprintf("remove what lets %s upgrade from %s, to stop at %s on the way", way[passed+1].name, way[passed].name, to.name)
	case loop:
		r.Reason = fmt.Sprintf("the way comes back to %s", last.name)
		r.Remedy = fmt.Sprintf("remove the edge from %s to %s", way[len(way)-2].name, last.name)
	default:
		r.Reason = w.deadEndV0(last)
		r.Remedy = w.missing(last, to)
	}
	return r
}

func (w *walk) v1(from *node, g goal) Route {
	way, loop := w.hopsV1.follow(from, g)
	last, to := way[len(way)-1], g.main
	r := Route{Reached: (last == to || g.any[last]) && !loop, Hops: hopsOf(way, w.scope.edgesV1)}
	if r.Reached {
		return r
	}
	if pins := newSearch(w.network, w.scope).way(from, to); pins != nil {
		r.Pinned = hopsOf(append([]*node{from}, pins...), w.scope.edgesV1)
	}
	passed := passedOver(way, to, w.scope.edgesV1)
	switch {
	case !to.usable:
		r.Reason = fmt.Sprintf("%s cannot be installed: its version cannot be read, or it is defined twice", to.name)
		r.Remedy = "correct the bundle"
	case passed >= 0:
		r.Reason = fmt.Sprintf("at %s, %s is preferred to %s and is taken", way[passed].name, way[passed+1].name, to.name)
	case loop:
		r.Reason = fmt.Sprintf("the way comes back to %s", last.name)
	default:
		r.Reason = w.deadEndV1(last)
	}
	switch {
	case r.Remedy != "":
	case r.Pinned != nil:
		r.Remedy = "set spec.version to each stop of the pinned way in turn"
	default:
		r.Remedy = w.missing(last, to)
	}
	return r
}

// passedOver is the place on the way from where there is an edge to the goal,
// but something else was taken; -1 when there is none.
func passedOver(way []*node, to *node, edges func(from, to *node) []Edge) int {
	for i := range len(way) - 1 {
		if len(edges(way[i], to)) > 0 {
			return i
		}
	}
	return -1
}
