package graph

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/version"
)

// versionOf reads the version of a bundle from its olm.package property. Build
// metadata counts as a release, as under v1; no range checks either.
func versionOf(b *catalog.Bundle) (version.VersionRelease, error) {
	var found []json.RawMessage
	for _, p := range b.Properties {
		if p.Type == catalog.PropertyPackage {
			found = append(found, p.Value)
		}
	}
	if len(found) != 1 {
		return version.VersionRelease{}, fmt.Errorf("it has %d properties of type %q; it must have exactly one", len(found), catalog.PropertyPackage)
	}
	var value struct{ Version, Release string }
	if err := json.Unmarshal(found[0], &value); err != nil {
		return version.VersionRelease{}, fmt.Errorf("its property %q cannot be read: %w", catalog.PropertyPackage, err)
	}
	v, err := version.Parse(value.Version)
	if err != nil {
		return version.VersionRelease{}, err
	}
	release, err := version.ParseRelease(value.Release)
	if err != nil {
		return version.VersionRelease{}, err
	}
	if len(release) > 0 {
		return version.VersionRelease{Version: v, Release: release}, nil
	}
	return version.FromBuild(v), nil
}

// skipRange is a range with the versions that it names: these are asked for
// many times, and found in the text of the range.
type skipRange struct {
	version.Range
	limits []semver.Version
}

func newSkipRange(r version.Range) skipRange { return skipRange{Range: r, limits: r.Limits()} }

// spans calls use with the places [from, to) in sorted, which are versions in
// ascending order, that a range contains. A range can only change its mind at
// the versions that it names, so few of the sorted ones are checked.
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
