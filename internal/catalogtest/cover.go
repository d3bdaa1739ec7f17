package catalogtest

import (
	"cmp"
	"slices"
)

// arc leads from a node to another one; nodes are numbers from zero.
type arc struct{ from, to int }

// cover is as few walks along the arcs as there can be that take every arc at least once; a walk is places in arcs. Nodes that lie on a common cycle
// are one node to it, all arcs between which are taken by the first walk that comes by: what is left has no cycle. There, a walk begins wherever more
// arcs leave a node than enter it. Each arc that is taken once more, on a path from a node that more arcs enter to one that more arcs leave, saves one
// walk: as many of those paths as a flow finds, the shortest first, make the number the smallest. Without cycles, no arc is taken more often
// than that needs.
func cover(nodes int, arcs []arc) [][]int {
	c := coverer{tours: newTours(nodes, arcs)}
	c.out = make([][]int, c.count)
	c.balance = make([]int, c.count)
	c.times = make([]int, len(arcs))
	for i, a := range arcs {
		if from, to := c.group[a.from], c.group[a.to]; from != to {
			c.out[from] = append(c.out[from], i)
			c.times[i] = 1
			c.balance[from]++
			c.balance[to]--
		}
	}
	for c.save() {
	}
	return c.walks()
}

type coverer struct {
	*tours
	out     [][]int // arcs that leave a group for another one
	times   []int   // how often an arc between groups is taken
	balance []int   // of a group: how many walks begin there, less those that end
}

// save joins the end of walks to the beginning of others along the cheapest path, and tells whether there was one. To take an arc costs 1; to take
// one less often than it was planned gives that back.
func (c *coverer) save() bool {
	const unreached = int(^uint(0) >> 1)
	cost, by := make([]int, c.count), make([]int, c.count) // by is an arc+1, negative where it is taken back
	var queue []int
	for v := range c.count {
		cost[v] = unreached
		if c.balance[v] < 0 {
			cost[v] = 0
			queue = append(queue, v)
		}
	}
	in := c.takenTwice()
	reach := func(from, to, price, step int) {
		if price += cost[from]; price < cost[to] {
			cost[to], by[to] = price, step
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, i := range c.out[v] {
			reach(v, c.group[c.arcs[i].to], 1, i+1)
		}
		for _, i := range in[v] {
			reach(v, c.group[c.arcs[i].from], -1, -i-1)
		}
	}
	best := -1
	for v := range c.count {
		if c.balance[v] > 0 && cost[v] < unreached && (best < 0 || cost[v] < cost[best]) {
			best = v
		}
	}
	if best < 0 {
		return false
	}
	c.balance[best]--
	v := best
	for by[v] != 0 {
		if step := by[v]; step > 0 {
			c.times[step-1]++
			v = c.group[c.arcs[step-1].from]
		} else {
			c.times[-step-1]--
			v = c.group[c.arcs[-step-1].to]
		}
	}
	c.balance[v]++
	return true
}

// takenTwice are the arcs that are taken more than once, by where they lead.
func (c *coverer) takenTwice() map[int][]int {
	in := map[int][]int{}
	for i, times := range c.times {
		if times > 1 {
			to := c.group[c.arcs[i].to]
			in[to] = append(in[to], i)
		}
	}
	return in
}

// walks follow the arcs as often as they are to be taken, from each beginning on until nothing is left to take.
func (c *coverer) walks() [][]int {
	var walks [][]int
	next := make([]int, c.count)
	for _, arcs := range c.out {
		slices.SortFunc(arcs, func(i, j int) int { return cmp.Or(cmp.Compare(c.arcs[i].to, c.arcs[j].to), cmp.Compare(i, j)) })
	}
	starts := make([]int, c.count)
	for group := range starts {
		starts[group] = group
	}
	slices.SortFunc(starts, func(g, h int) int { return cmp.Compare(c.first[g], c.first[h]) })
	for _, start := range starts {
		begun := c.balance[start]
		if begun < 1 && len(c.inner[start]) > 0 && !c.touched(start) {
			begun = 1
		}
		for range begun {
			way := walker{coverer: c, at: c.first[start]}
			way.tour(start)
			for v := start; ; {
				for next[v] < len(c.out[v]) && c.times[c.out[v][next[v]]] == 0 {
					next[v]++
				}
				if next[v] == len(c.out[v]) {
					break
				}
				i := c.out[v][next[v]]
				c.times[i]--
				way.follow(i)
				v = c.group[c.arcs[i].to]
				way.tour(v)
			}
			walks = append(walks, way.taken)
		}
	}
	return walks
}

// touched tells whether an arc leads to the group or away from it.
func (c *coverer) touched(group int) bool {
	return len(c.out[group]) > 0 || slices.ContainsFunc(c.arcs, func(a arc) bool { return c.group[a.to] == group && c.group[a.from] != group })
}

// walker is on its way.
type walker struct {
	*coverer
	at    int
	taken []int
}

// follow walks to where the arc begins, within the group, and takes it.
func (w *walker) follow(i int) {
	w.taken = append(append(w.taken, w.way(w.at, w.arcs[i].from)...), i)
	w.at = w.arcs[i].to
}

// tour takes all arcs within a group, the first time that a walk comes by.
func (w *walker) tour(group int) {
	done := map[int]bool{}
	for _, i := range w.inner[group] {
		if !done[i] {
			before := len(w.taken)
			w.follow(i)
			for _, j := range w.taken[before:] {
				done[j] = true
			}
		}
	}
	w.inner[group] = nil
}
