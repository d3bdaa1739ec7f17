package version

import (
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// Limits are the versions that a range names, in ascending order: only at and
// right after these a range can begin or end. A wildcard stands for the first
// version it covers and the first ones it does not, so there may be more than
// are needed, but never fewer.
func (r Range) Limits() []semver.Version {
	var found []semver.Version
	for _, word := range strings.FieldsFunc(r.text, func(r rune) bool { return strings.ContainsRune(" \t<>=!|", r) }) {
		word = strings.TrimLeftFunc(word, func(r rune) bool { return r < '0' || r > '9' })
		if v, err := Parse(word); err == nil {
			v.Build = nil
			found = append(found, v)
			continue
		}
		first, err := ParseTolerant(strings.Replace(strings.Replace(word, ".x.x", ".x", 1), ".x", ".0", 1))
		if err != nil {
			continue
		}
		major, minor := first, first
		major.Major++
		minor.Minor++
		found = append(found, first, major, minor,
			semver.Version{Major: first.Major, Minor: first.Minor}, semver.Version{Major: first.Major, Minor: first.Minor + 1}, semver.Version{Major: first.Major + 1})
	}
	slices.SortFunc(found, semver.Version.Compare)
	return slices.CompactFunc(found, func(a, b semver.Version) bool { return a.Compare(b) == 0 })
}
