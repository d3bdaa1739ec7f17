package diff

import (
	"slices"

	"fairlead.dev/fairlead/catalog"
)

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
