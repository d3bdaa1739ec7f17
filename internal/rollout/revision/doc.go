// Package revision makes ClusterObjectSets, the revisions of a ClusterExtension, and reads them back: objects in phases, which are packed
// into immutable Secrets that the ClusterObjectSet refers to.
//
// What a revision consists of is decided without a client, and the same objects always make the same revision. Only Write, Retain and the
// functions that read take one. The package never rolls a revision out: internal/controller/clusterobjectset does.
//
// Start reading at Build (build.go). Then:
//
//	prepare.go  objects as they are kept
//	phases.go   which object belongs to which phase
//	pack.go     objects to Secrets
//	read.go     Secrets to objects, within limits
//	memory.go   what was read, for those who read it again
//	lost.go     what can be read no more
//	keep.go     definitions that stay when a revision goes
//	digest.go   what is compared instead of content
//	write.go    bringing a revision into a cluster
//	retain.go   the revisions of an extension, and which of them go
package revision
