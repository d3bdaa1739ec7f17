package version

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
)

// maxRelease is the longest release, in characters.
const maxRelease = 20

// Release tells apart builds of one version: dot-separated identifiers, as in
// a pre-release, that count upwards. The zero Release is none.
type Release []semver.PRVersion

// ParseRelease reads a release of at most 20 characters. The empty text is no
// release.
func ParseRelease(s string) (Release, error) {
	if s == "" {
		return nil, nil
	}
	if len(s) > maxRelease {
		return nil, fmt.Errorf("invalid release %q: exceeds maximum length of %d characters", clip(s), maxRelease)
	}
	var r Release
	for i, segment := range strings.Split(s, ".") {
		id, err := semver.NewPRVersion(segment)
		if err != nil {
			return nil, fmt.Errorf("invalid release %q: segment %d: %w", s, i, err)
		}
		r = append(r, id)
	}
	return r, nil
}

// String is the text of the release, empty for none.
func (r Release) String() string {
	segments := make([]string, len(r))
	for i, id := range r {
		segments[i] = id.String()
	}
	return strings.Join(segments, ".")
}

// Compare orders releases: none first, then identifier by identifier, numbers
// before words, a prefix before what extends it.
func (r Release) Compare(o Release) int {
	return slices.CompareFunc(r, o, semver.PRVersion.Compare)
}

// VersionRelease is what orders the bundles of a package.
type VersionRelease struct {
	Version semver.Version
	Release Release
}

// Compare orders by version, then by release: the same version with a release
// is greater than without one. Build metadata does not count.
func (v VersionRelease) Compare(o VersionRelease) int {
	if c := v.Version.Compare(o.Version); c != 0 {
		return c
	}
	return v.Release.Compare(o.Release)
}

// String is the version, followed by "-" and the release if there is one.
func (v VersionRelease) String() string {
	if len(v.Release) == 0 {
		return v.Version.String()
	}
	return v.Version.String() + "-" + v.Release.String()
}

// KubernetesSafe is String in a form fit for the names of Kubernetes objects.
func (v VersionRelease) KubernetesSafe() string {
	return strings.ToLower(strings.ReplaceAll(v.String(), "+", "-"))
}

// FromBuild turns build metadata into a release, as authors wrote it before
// releases existed: 1.0.0+2 is release 2 of 1.0.0. Build metadata that is not
// a valid release stays where it is.
func FromBuild(v semver.Version) VersionRelease {
	if len(v.Build) == 0 {
		return VersionRelease{Version: v}
	}
	release, err := ParseRelease(strings.Join(v.Build, "."))
	if err != nil {
		return VersionRelease{Version: v}
	}
	v.Build = nil
	return VersionRelease{Version: v, Release: release}
}

// clip shortens a text that is to be quoted in an error.
func clip(s string) string {
	if len(s) <= 64 {
		return s
	}
	return s[:64] + "…"
}
