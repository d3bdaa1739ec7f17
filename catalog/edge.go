package catalog

import (
	"slices"

	"fairlead.dev/fairlead/version"
)

// Edge is the way in which a channel entry upgrades something, for a Subscription.
type Edge string

const (
	NoEdge        Edge = ""
	EdgeReplaces  Edge = "replaces"
	EdgeSkips     Edge = "skips"
	EdgeSkipRange Edge = "skipRange"
)

// Departure is what an upgrade starts from, in a catalog or installed.
type Departure struct {
	Name    string
	Version *version.VersionRelease // nil when it is not known; then no skipRange leads on
}

// EdgeFrom tells how the entry upgrades from there, if it does. Which edge it is makes no difference to what is preferred: the entry nearer
// to the head is. Entries that are not on the replaces chain are never upgraded to.
func (e *EntryInfo) EdgeFrom(from Departure) Edge {
	switch {
	case !e.InChain || e.Name == from.Name:
		return NoEdge
	case e.Replaces == from.Name && from.Name != "":
		return EdgeReplaces
	case slices.Contains(e.Skips, from.Name):
		return EdgeSkips
	case from.Version != nil && SkipRangeLeads(e.SkipRange, *from.Version, e.Bundle.Version):
		return EdgeSkipRange
	}
	return NoEdge
}

// RefusesBack tells whether the only way to the entry would be a skipRange that leads back.
func (e *EntryInfo) RefusesBack(from Departure) bool {
	return e.InChain && e.Name != from.Name && e.EdgeFrom(from) == NoEdge && from.Version != nil && e.SkipRange.Contains(from.Version.Version)
}

// SkipRangeLeads tells whether a skipRange of the version to leads on from another version, for a Subscription: it contains that, and does
// not lead back to something older. Only what names a version takes it back: a skipRange without an upper end would take the head back
// for ever.
func SkipRangeLeads(r version.Range, from, to version.VersionRelease) bool {
	return r.Contains(from.Version) && !IsBack(from, to)
}

// IsBack tells whether to is older than from. Of the same version, the release decides, however it is written.
func IsBack(from, to version.VersionRelease) bool { return Released(to).Compare(Released(from)) < 0 }

// Released is a version as it is ordered among those of a package: without a release, build metadata is one, where it can be.
func Released(v version.VersionRelease) version.VersionRelease {
	if isReleased(&v) {
		return v
	}
	return version.FromBuild(v.Version)
}

// ReleasedVersion is the version of the bundle as Released has it: mostly the one that the index has, which is not copied, as there are thousands.
func (b *BundleInfo) ReleasedVersion() *version.VersionRelease {
	if isReleased(&b.Version) {
		return &b.Version
	}
	order := version.FromBuild(b.Version.Version)
	return &order
}

// isReleased reports whether a version is ordered as it is.
func isReleased(v *version.VersionRelease) bool {
	return len(v.Release) > 0 || len(v.Version.Build) == 0
}
