// Package extension decides which bundle a ClusterExtension resolves to. Its input are values: what the extension asks for, what it has
// installed, the ClusterCatalogs, and what other extensions have installed; its output is a bundle, or an explanation why there is none.
//
// The package translates: channels, version ranges, upgrade edges, deprecations, priorities and dependencies become a resolve.Problem,
// and its answer a Result. It never talks to a cluster, a registry or a clock, and installs nothing that nobody asked for; the same
// request always has the same answer, in whatever order its parts are listed. docs/resolution-v1.md says what it decides, for those who
// use it.
//
// Start reading at Resolve (decide.go). Which bundles there are, and in which order they are preferred, is in candidate.go; what is
// refused in refuse.go, need.go and guard.go; what is told about it in conflict.go, summary.go and advice.go.
package extension
