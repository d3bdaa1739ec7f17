package graph

import (
	"slices"
)

// preference orders versions, the better first.
type preference func(a, b *node) int

// byDeprecation is the preference of v1: what is not deprecated first, then the
// highest version.
func byDeprecation(a, b *node) int {
	if a.deprecation != "" != (b.deprecation != "") {
		if a.deprecation != "" {
			return 1
		}
		return -1
	}
	return byVersion(a, b)
}

// byVersion is the preference of v1 if nothing were deprecated.
func byVersion(a, b *node) int { return b.version.Compare(a.version) }

// settle weighs the chosen entry against what needs no edge: to stay, if the
// installed version is offered, or the same version under another name.
func (prefer preference) settle(v *node, chosen *entry, candidates []*entry, offered bool) *entry {
	if offered {
		if chosen != nil && prefer(chosen.node, v) < 0 {
			return chosen
		}
		return nil
	}
	if same := prefer.sameVersion(v, candidates); same != nil && (chosen == nil || prefer(same.node, chosen.node) < 0) {
		return same
	}
	return chosen
}

// sameVersion is the first of the candidates, in order of preference, that has
// the version and release of v.
func (prefer preference) sameVersion(v *node, candidates []*entry) *entry {
	if !v.known {
		return nil
	}
	for _, deprecation := range []string{"", "deprecated"} {
		like := &node{version: v.version, deprecation: deprecation}
		if i, ok := slices.BinarySearchFunc(candidates, like, func(e *entry, l *node) int { return prefer(e.node, l) }); ok {
			return candidates[i]
		}
	}
	return nil
}
