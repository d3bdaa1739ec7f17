package catalogtest

import "slices"

// tours puts nodes that lie on a common cycle into one group.
type tours struct {
	arcs  []arc
	leave [][]int // arcs, by the node that they leave
	group []int   // of a node
	count int     // of groups
	first []int   // node of a group, the lowest
	inner [][]int // arcs within a group
}

func newTours(nodes int, arcs []arc) *tours {
	t := &tours{arcs: arcs, leave: make([][]int, nodes), group: make([]int, nodes)}
	for i, a := range arcs {
		t.leave[a.from] = append(t.leave[a.from], i)
	}
	t.find()
	t.first, t.inner = make([]int, t.count), make([][]int, t.count)
	for v := nodes - 1; v >= 0; v-- {
		t.first[t.group[v]] = v
	}
	for i, a := range arcs {
		if g := t.group[a.from]; g == t.group[a.to] {
			t.inner[g] = append(t.inner[g], i)
		}
	}
	return t
}

// find is Tarjan's algorithm for strongly connected components, without recursion: how deep a catalog goes is not ours to say.
func (t *tours) find() {
	const open = -1
	order, low := make([]int, len(t.group)), make([]int, len(t.group))
	next := make([]int, len(t.group)) // how many arcs of a node have been followed
	var path, waiting []int
	met := 0
	enter := func(v int) {
		met++
		order[v], low[v], t.group[v] = met, met, open
		path, waiting = append(path, v), append(waiting, v)
	}
	for start := range t.group {
		if order[start] > 0 {
			continue
		}
		enter(start)
		for len(path) > 0 {
			v := path[len(path)-1]
			if next[v] < len(t.leave[v]) {
				to := t.arcs[t.leave[v][next[v]]].to
				next[v]++
				if order[to] == 0 {
					enter(to)
				} else if t.group[to] == open {
					low[v] = min(low[v], order[to])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				low[path[len(path)-1]] = min(low[path[len(path)-1]], low[v])
			}
			if low[v] == order[v] {
				for t.group[v] == open {
					t.group[waiting[len(waiting)-1]] = t.count
					waiting = waiting[:len(waiting)-1]
				}
				t.count++
			}
		}
	}
}

// way is a shortest one between two nodes of a group.
func (t *tours) way(from, to int) []int {
	by := map[int]int{from: -1}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, i := range t.leave[queue[0]] {
			next := t.arcs[i].to
			if _, met := by[next]; !met && t.group[next] == t.group[from] {
				by[next] = i
				queue = append(queue, next)
			}
		}
	}
	var way []int
	for v := to; v != from; v = t.arcs[by[v]].from {
		way = append(way, by[v])
	}
	slices.Reverse(way)
	return way
}
