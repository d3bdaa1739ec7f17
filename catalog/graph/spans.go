package graph

import (
	"slices"

	"github.com/blang/semver/v4"

	"fairlead.dev/fairlead/version"
)

// skipRange is a range with the versions that it names: these are asked for
// many times, and found in the text of the range.
type skipRange struct {
	version.Range
	limits []semver.Version
}

func newSkipRange(r version.Range) skipRange { return skipRange{Range: r, limits: r.Limits()} }

// spans calls use with the places [from, to) in sorted, which are versions in
// ascending order, that a range contains. A range can only change its mind at
// the versions that it names, so few of the sorted ones are looked at.
func spans(sorted []*node, r skipRange, use func(from, to int)) {
	if r.IsZero() || len(sorted) == 0 {
		return
	}
	stretch := func(from, to int) {
		if from < to && r.Contains(sorted[from].version.Version) {
			use(from, to)
		}
	}
	done := 0
	for _, limit := range r.limits {
		below, _ := slices.BinarySearchFunc(sorted[done:], limit, func(v *node, l semver.Version) int { return v.version.Version.Compare(l) })
		below += done
		above := below
		for above < len(sorted) && sorted[above].version.Version.Compare(limit) == 0 {
			above++
		}
		stretch(done, below)
		stretch(below, above)
		done = above
	}
	stretch(done, len(sorted))
}
