package catalogtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCoverIsMinimal compares with every way to cover small graphs: as few walks and, without cycles, as few arcs in them.
func TestCoverIsMinimal(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		nodes, acyclic := 2+random.IntN(5), i%3 > 0
		arcs := randomArcs(random, nodes, acyclic)
		t.Run(fmt.Sprint(nodes, arcs), func(t *testing.T) {
			t.Parallel()
			walks := cover(nodes, arcs)
			checkCover(t, arcs, walks)
			length := 0
			for _, w := range walks {
				length += len(w)
			}
			number, least := bruteCover(nodes, arcs)
			if len(walks) != number || acyclic && length != least {
				t.Errorf("%d walks of %d arcs: %v; want %d of %d", len(walks), length, walks, number, least)
			}
		})
	}
}

func randomArcs(random *rand.Rand, nodes int, acyclic bool) []arc {
	var arcs []arc
	for range random.IntN(9) {
		a := arc{random.IntN(nodes), random.IntN(nodes)}
		if acyclic && a.from > a.to {
			a.from, a.to = a.to, a.from
		}
		if a.from != a.to && !slices.Contains(arcs, a) {
			arcs = append(arcs, a)
		}
	}
	return arcs
}

// checkCover demands that each walk is connected and that all arcs are taken.
func checkCover(t *testing.T, arcs []arc, walks [][]int) {
	t.Helper()
	taken := map[int]bool{}
	for _, w := range walks {
		if len(w) == 0 {
			t.Error("a walk of nothing")
		}
		for i, a := range w {
			taken[a] = true
			if i > 0 && arcs[w[i-1]].to != arcs[a].from {
				t.Errorf("walk %v is not connected at %d", w, i)
			}
		}
	}
	if len(taken) != len(arcs) {
		t.Errorf("%d of %d arcs are taken: %v", len(taken), len(arcs), walks)
	}
}

// bruteCover tries all sets of arcs that a walk can take: how few walks take all of them and, of so many, how few arcs these have.
func bruteCover(nodes int, arcs []arc) (number, length int) {
	if len(arcs) == 0 {
		return 0, 0
	}
	type state struct{ at, set int }
	shortest := map[state]int{}
	var queue []state
	for v := range nodes {
		queue = append(queue, state{at: v})
		shortest[state{at: v}] = 0
	}
	sets := map[int]int{}
	for ; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if old, ok := sets[s.set]; s.set != 0 && (!ok || shortest[s] < old) {
			sets[s.set] = shortest[s]
		}
		for i, a := range arcs {
			next := state{at: a.to, set: s.set | 1<<i}
			if _, ok := shortest[next]; a.from == s.at && !ok {
				shortest[next] = shortest[s] + 1
				queue = append(queue, next)
			}
		}
	}
	all := 1<<len(arcs) - 1
	now := map[int]int{0: 0}
	for number = 1; ; number++ {
		next := map[int]int{}
		for set, sum := range now {
			for more, l := range sets {
				if old, ok := next[set|more]; !ok || sum+l < old {
					next[set|more] = sum + l
				}
			}
		}
		if sum, ok := next[all]; ok {
			return number, sum
		}
		now = next
	}
}

// TestCoverOfManyVersions: a skipRange in every entry makes an edge of every pair, and two lines of versions that cross make walks worth joining.
func TestCoverOfManyVersions(t *testing.T) {
	var pairs, cross []arc
	for to := range 200 {
		for from := range to {
			pairs = append(pairs, arc{from, to})
		}
	}
	checkCover(t, pairs, cover(200, pairs))
	for i := range 1000 {
		cross = append(cross, arc{i, i + 1}, arc{i + 2000, i + 1}, arc{i + 1, i + 4000})
	}
	walks := cover(6000, cross)
	checkCover(t, cross, walks)
	if len(walks) != 1001 { // no walk takes two of the arcs that enter: 1000 from beside, and the first
		t.Errorf("%d walks", len(walks))
	}
}
