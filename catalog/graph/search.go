package graph

import (
	"slices"
)

// search finds ways through all edges of v1, whatever the resolver would prefer.
type search struct {
	scope  scope
	named  map[*node][]*entry // by what they replace or skip
	sorted []*node            // all with a known version, ascending
	place  map[*node]int
	tree   [][]*entry   // entries by the stretches of sorted that their skipRange covers
	met    map[int]bool // the stretches of one version that were reached, by their beginning
}

func newSearch(n *network, s scope) *search {
	f := &search{scope: s, named: map[*node][]*entry{}, place: map[*node]int{}, met: map[int]bool{}}
	for _, v := range n.order {
		if v.known {
			f.sorted = append(f.sorted, v)
		}
	}
	slices.SortFunc(f.sorted, (*node).compare)
	for i, v := range f.sorted {
		f.place[v] = i
	}
	f.tree = make([][]*entry, 2*len(f.sorted))
	for _, c := range s.list {
		for _, e := range c.entries {
			if e.node.usable {
				if e.replaces != nil {
					f.named[e.replaces] = append(f.named[e.replaces], e)
				}
				for _, s := range e.skips {
					f.named[s] = append(f.named[s], e)
				}
				spans(f.sorted, e.skipRange, func(from, to int) {
					for from, to = from+len(f.sorted), to+len(f.sorted); from < to; from, to = from/2, to/2 {
						if from%2 == 1 {
							f.tree[from] = append(f.tree[from], e)
							from++
						}
						if to%2 == 1 {
							to--
							f.tree[to] = append(f.tree[to], e)
						}
					}
				})
			}
		}
	}
	return f
}

// way is a shortest one from a version to another, without the first; nil when
// there is none. A search can be asked once.
func (f *search) way(from, to *node) []*node {
	before := map[*node]*node{from: from}
	queue := []*node{from}
	visit := func(v *node, entries []*entry) {
		for _, e := range entries {
			if before[e.node] == nil {
				before[e.node] = v
				queue = append(queue, e.node)
			}
		}
	}
	for len(queue) > 0 && before[to] == nil {
		v := queue[0]
		queue = queue[1:]
		visit(v, f.named[v])
		if i, ok := f.place[v]; ok {
			visit(v, f.twins(i))
			for i += len(f.sorted); i > 0; i /= 2 {
				visit(v, f.tree[i])
				f.tree[i] = nil // all of it is reached now
			}
		}
	}
	if before[to] == nil || from == to {
		return nil
	}
	var way []*node
	for v := to; v != from; v = before[v] {
		way = append(way, v)
	}
	slices.Reverse(way)
	return way
}

// twins are entries of the same version and release, once.
func (f *search) twins(i int) []*entry {
	same := f.sorted[i].version
	for i > 0 && f.sorted[i-1].version.Compare(same) == 0 {
		i--
	}
	if f.met[i] {
		return nil
	}
	f.met[i] = true
	var found []*entry
	for ; i < len(f.sorted) && f.sorted[i].version.Compare(same) == 0; i++ {
		if e := f.scope.first(f.sorted[i]); e != nil && f.sorted[i].usable {
			found = append(found, e)
		}
	}
	return found
}
