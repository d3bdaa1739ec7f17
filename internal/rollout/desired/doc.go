// Package desired decides the next step of a ClusterExtension: whether a revision is written, of which bundle or of which earlier revision, or
// what keeps it from being written. internal/controller/clusterextension executes the step, and fairlead plan prints it: both call Next, so
// that a dry run cannot decide differently.
//
// The package is pure: it has no client and no clock, writes nothing, and changes nothing that is passed in. What the catalogs offer is
// decided before, by internal/resolution, and when an upgrade may begin by internal/schedule. Whether the cluster allows the step is checked after, by revision.Preflight.
//
// Start reading at Next (next.go). Then:
//
//	target.go    what a revision is made of, and what identifies it
//	provider.go  who issues serving certificates, and the options of rendering
package desired
