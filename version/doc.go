// Package version knows the versions of operators and the two languages in
// which people write sets of them.
//
// A [VersionRelease] is a semantic version with an optional release, the
// order in which bundles of a package are compared. A [Range] is written in
// the grammar of the v0 API and of catalogs (skipRange, versionRange); a
// [Constraint] is written in the richer grammar of ClusterExtension's
// spec.version. The two are different on purpose: a text that both accept can
// select different versions, mostly about pre-releases.
//
// The package never does input or output and knows nothing about catalogs or
// Kubernetes. Start reading at [Parse], [ParseRange] and [ParseConstraint].
package version
