package graph

import (
	"slices"
	"sort"
)

// hops says where each of some versions goes next when the resolver decides.
type hops struct {
	index   map[*node]int
	sources []*node  // those with a known version first, ascending
	next    []*entry // the entry chosen for each source; nil when it stays
	free    []int    // union-find: the next source at or after i without a choice
	known   int      // how many sources have a known version
}

// reach says which versions a skipRange leads on from.
type reach bool

const (
	anyVersion   reach = false
	olderVersion reach = true // not back from a newer one: so it is under v0
)

// choose gives each source the first of the candidates, which are in order of
// preference, that upgrades from it.
func choose(sources []*node, candidates []*entry, reach reach) *hops {
	h := &hops{index: make(map[*node]int, len(sources)), sources: make([]*node, 0, len(sources))}
	for _, v := range sources {
		if _, ok := h.index[v]; !ok {
			h.index[v] = 0
			h.sources = append(h.sources, v)
		}
	}
	slices.SortFunc(h.sources, func(a, b *node) int {
		if a.known != b.known {
			return -a.compare(b)
		}
		return a.compare(b)
	})
	h.next = make([]*entry, len(h.sources))
	h.free = make([]int, len(h.sources)+1)
	for i, v := range h.sources {
		h.index[v] = i
		h.free[i] = i
		if v.known {
			h.known = i + 1
		}
	}
	h.free[len(h.sources)] = len(h.sources)
	for _, e := range candidates {
		if e.replaces != nil {
			h.take(e.replaces, e)
		}
		for _, s := range e.skips {
			h.take(s, e)
		}
		within := h.sources[:h.known]
		if reach == olderVersion {
			within = within[:sort.Search(len(within), func(i int) bool { return e.isBack(within[i]) })]
		}
		spans(within, e.skipRange, func(from, to int) {
			for i := h.find(from); i < to; i = h.find(i + 1) {
				h.take(h.sources[i], e)
			}
		})
	}
	return h
}

// take records a choice, unless there is one, or the entry is the source itself.
func (h *hops) take(source *node, e *entry) {
	if i, ok := h.index[source]; ok && h.next[i] == nil && source != e.node {
		h.next[i] = e
		h.free[i] = i + 1
	}
}

func (h *hops) find(i int) int {
	root := i
	for h.free[root] != root {
		root = h.free[root]
	}
	for h.free[i] != root {
		i, h.free[i] = h.free[i], root
	}
	return root
}

// from is where a source goes next, nil when it stays.
func (h *hops) from(v *node) *entry {
	if i, ok := h.index[v]; ok {
		return h.next[i]
	}
	return nil
}

// hopsV0 are those of a Subscription that follows the channels in this order:
// one, or all of the package.
func (s scope) hopsV0(sources []*node) *hops { return choose(sources, s.offered(), olderVersion) }

// offered are the entries that v0 may install, the preferred first.
func (s scope) offered() []*entry {
	var candidates []*entry
	for _, c := range s.list {
		for _, e := range c.chain.line {
			if e.offered() {
				candidates = append(candidates, e)
			}
		}
	}
	return candidates
}

// hopsV1 are those of a ClusterExtension that follows the channels, whose order
// means nothing. An installed version that can still be had is a candidate, too:
// it stays unless another one is better.
func (s scope) hopsV1(sources []*node, prefer preference) *hops {
	var candidates []*entry
	for _, c := range s.list {
		for _, e := range c.entries {
			if e.node.usable {
				candidates = append(candidates, e)
			}
		}
	}
	slices.SortStableFunc(candidates, func(a, b *entry) int { return prefer(a.node, b.node) })
	h := choose(sources, candidates, anyVersion)
	offered := make(map[*node]bool, len(candidates))
	for _, e := range candidates {
		offered[e.node] = true
	}
	for i, v := range h.sources {
		h.next[i] = prefer.settle(v, h.next[i], candidates, offered[v])
	}
	return h
}

// ends are where each source comes to by hops alone; nil when it never comes to
// rest.
func (h *hops) ends() map[*node]*node {
	ends := make(map[*node]*node, len(h.sources))
	for _, start := range h.sources {
		var way []*node
		walked := map[*node]bool{}
		end := start
		for {
			if known, ok := ends[end]; ok {
				end = known
				break
			}
			if walked[end] {
				end = nil
				break
			}
			walked[end] = true
			way = append(way, end)
			next := h.from(end)
			if next == nil {
				break
			}
			end = next.node
		}
		for _, v := range way {
			ends[v] = end
		}
	}
	return ends
}
