package diff

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
)

// compareEntries compares the entries of a channel, and the edges they make.
func (c *comparison) compareEntries(channel string, old, now []catalog.Entry) {
	entryName := func(e *catalog.Entry) string { return e.Name }
	match(pointers(old), pointers(now), entryName, func(name string, a, b *catalog.Entry) {
		if op := opOf(a, b); op != Changed {
			c.add(Change{Op: op, Kind: KindEntry, Channel: channel, Name: name})
		}
		edge := func(op Op, by, from string) {
			c.add(Change{Op: op, Kind: KindEdge, Channel: channel, Name: name, From: from, By: by})
		}
		was, is := edges(a), edges(b)
		for _, by := range []string{"replaces", "skips", "skipRange"} {
			for _, from := range without(was[by], is[by]) {
				edge(Removed, by, from)
			}
			for _, from := range without(is[by], was[by]) {
				edge(Added, by, from)
			}
		}
	})
}

// edges are where the edges of an entry come from, by what makes them.
func edges(e *catalog.Entry) map[string][]string {
	if e == nil {
		return nil
	}
	all := map[string][]string{"skips": slices.Compact(slices.Sorted(slices.Values(e.Skips)))}
	if e.Replaces != "" {
		all["replaces"] = []string{e.Replaces}
	}
	if e.SkipRange != "" {
		all["skipRange"] = []string{e.SkipRange}
	}
	return all
}

// without are the names that are not among others. Both are sorted.
func without(names, others []string) []string {
	var left []string
	for _, name := range names {
		if _, ok := slices.BinarySearch(others, name); !ok {
			left = append(left, name)
		}
	}
	return left
}

func pointers[T any](all []T) []*T {
	found := make([]*T, len(all))
	for i := range all {
		found[i] = &all[i]
	}
	return found
}
