package catalogtest

import (
	"fmt"
	"slices"

	"fairlead.dev/fairlead/catalog/graph"
)

// Walks are as few walks as there can be that take every upgrade of a package at least once, and install every bundle that no upgrade touches. An
// upgrade is only taken twice where that saves a walk. has tells whether the content of a bundle is to be had; nil means of all. What cannot be walked
// for that, or because the API offers it nowhere, is returned as results that were skipped.
func Walks(u *graph.Upgrades, has func(bundle string) bool) ([]Walk, []Result) {
	p := plan{upgrades: u, number: map[string]int{}}
	for i, v := range u.Versions {
		p.number[v.Name] = i
	}
	p.sort(has)
	var walks []Walk
	for _, way := range cover(len(u.Versions), p.arcs) {
		walks = append(walks, p.walk(p.arcs[way[0]].from, way))
	}
	for _, v := range p.alone {
		walks = append(walks, p.walk(v, nil))
	}
	return walks, p.skipped
}

// plan puts the upgrades of a package into numbers.
type plan struct {
	upgrades *graph.Upgrades
	number   map[string]int // of a version in upgrades, by name
	arcs     []arc          // the upgrades that can be walked
	hops     []int          // those of arcs, in upgrades
	alone    []int          // versions that are only installed
	skipped  []Result
}

// sort tells what can be walked from what cannot.
func (p *plan) sort(has func(bundle string) bool) {
	lacks := func(i int) string {
		switch v := p.upgrades.Versions[i]; {
		case !v.Bundle:
			return fmt.Sprintf("the catalog has no bundle %s: it only names it", v.Name)
		case has != nil && !has(v.Name):
			return fmt.Sprintf("the content of %s is not to be had", v.Name)
		}
		return ""
	}
	walked, touched := map[int]bool{}, map[int]bool{}
	for i, hop := range p.upgrades.Hops {
		from, to := p.number[hop.From.Name], p.number[hop.To.Name]
		touched[from], touched[to] = true, true
		reason := lacks(to)
		if reason == "" {
			reason = lacks(from)
		}
		if reason != "" {
			p.skip(p.edge(hop), reason)
			continue
		}
		p.arcs, p.hops = append(p.arcs, arc{from: from, to: to}), append(p.hops, i)
		walked[from], walked[to] = true, true
	}
	for i, v := range p.upgrades.Versions {
		switch reason := lacks(i); {
		case walked[i] || !v.Listed:
		case reason == "" && v.Withheld == "":
			p.alone = append(p.alone, i)
		case touched[i]: // said with its upgrades
		case reason != "":
			p.skip(p.installation(i), reason)
		default:
			p.skip(p.installation(i), v.Withheld)
		}
	}
}

func (p *plan) skip(e Edge, reason string) {
	p.skipped = append(p.skipped, Result{API: API(p.upgrades.Semantics), Edge: e, Skipped: reason})
}

// walk installs a version and follows the way, which are places in arcs.
func (p *plan) walk(first int, way []int) Walk {
	w := Walk{Package: p.upgrades.Package, Edges: []Edge{p.installation(first)}}
	for _, i := range way {
		w.Edges = append(w.Edges, p.edge(p.upgrades.Hops[p.hops[i]]))
	}
	return w
}

func (p *plan) installation(i int) Edge {
	v := p.upgrades.Versions[i]
	return Edge{Package: p.upgrades.Package, To: v.Name, ToVersion: v.Version, Channels: v.Channels, Position: v.Position}
}

func (p *plan) edge(hop graph.Hop) Edge {
	e := Edge{Package: p.upgrades.Package, From: hop.From.Name, FromVersion: hop.From.Version, To: hop.To.Name, ToVersion: hop.To.Version,
		Position: p.upgrades.Versions[p.number[hop.To.Name]].Position}
	for _, reason := range hop.Edges {
		e.Channels = append(e.Channels, reason.Channel)
	}
	slices.Sort(e.Channels)
	e.Channels = slices.Compact(e.Channels)
	return e
}
