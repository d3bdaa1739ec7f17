package version

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// Range is a set of versions in the grammar of the v0 API and of catalogs:
// comparisons (<, <=, >, >=, =, !) joined by spaces for "and" and by " || "
// for "or", with x as a wildcard. A pre-release is a version like any other
// and lies just below its release. An excluded wildcard ("!=1.2.x") contains
// nothing, in every implementation of this grammar. The zero Range is no range
// and contains nothing.
type Range struct {
	text     string
	contains semver.Range
}

// ParseRange reads a range such as ">=1.0.0 <2.0.0 || >3.0.0 !4.2.1".
func ParseRange(s string) (Range, error) {
	if err := checkLength("version range", s); err != nil {
		return Range{}, err
	}
	contains, err := parseAlternatives(s)
	if err != nil {
		return Range{}, fmt.Errorf("version range %q is not a range such as \">=1.0.0 <2.0.0\": %w", clip(s), err)
	}
	return Range{text: s, contains: contains}, nil
}

// parseAlternatives first parses each side of every "||" by itself: given the
// whole, the parser accepts an empty side, and the range then panics when used.
func parseAlternatives(s string) (semver.Range, error) {
	for side := range strings.SplitSeq(s, "||") {
		switch len(strings.TrimSpace(side)) {
		case 0:
			return nil, errors.New("it is empty, or one side of \"||\" is")
		case 1:
			return nil, fmt.Errorf("%q is not a comparison with a version of three numbers", strings.TrimSpace(side))
		}
		if _, err := semver.ParseRange(side); err != nil {
			return nil, err
		}
	}
	return semver.ParseRange(s)
}

// Contains tells whether the range selects v. Build metadata does not count.
func (r Range) Contains(v semver.Version) bool {
	return r.contains != nil && r.contains(v)
}

// IsZero tells whether there is no range.
func (r Range) IsZero() bool { return r.contains == nil }

// String is the text the range was parsed from.
func (r Range) String() string { return r.text }

// Equal tells whether both ranges were parsed from the same text.
func (r Range) Equal(o Range) bool {
	return r.text == o.text && r.IsZero() == o.IsZero()
}

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
