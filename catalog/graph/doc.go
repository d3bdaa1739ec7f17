// Package graph judges, follows and draws the upgrade graphs of a catalog: the
// edges that replaces, skips and skipRange make between the versions of a
// package, as the two APIs understand them.
//
// Under v0 a Subscription follows a channel. Only entries on the replaces chain
// of its head count, the skipped ones do not, and of all that upgrade from what
// is installed the nearest to the head is taken. A channel without exactly one
// head, or whose chain does not lead to every entry, is refused as a whole.
//
// Under v1 a ClusterExtension follows any number of channels. Every entry
// counts, and of all that upgrade from what is installed the one with the
// highest version is taken, deprecated ones last; what is installed stays if
// that is not higher. spec.version can ask for any single successor.
//
// Check lists what is wrong or worth knowing, Simulate says what becomes of
// versions that are installed, Path follows one version to another, and Draw
// writes text, mermaid, DOT or SVG. All of them take catalogs as they are,
// broken ones too, because that is when one asks; their cost is nearly linear
// in the size of the catalog.
//
// The package checks the graph only: whether objects are sound otherwise is
// for catalog.Validate, and dependencies between packages, which may keep a
// resolver from its first choice, for the resolver. It does no input or output
// except to the writer it is given. Entries become nodes and edges in
// build.go; start reading at network.go and hops.go.
package graph
