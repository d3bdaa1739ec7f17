// Package revision makes ClusterObjectSets, the revisions of a ClusterExtension, and reads them back: objects in phases, which are packed
// into immutable Secrets that the ClusterObjectSet refers to.
//
// What a revision consists of is decided without a client, and the same objects always make the same revision. Only Write, Retain and the
// functions that read take one. The package never rolls a revision out: internal/controller/clusterobjectset does.
//
// Preflight checks what a ClusterExtension would be changed to, before a revision is written. The controller and fairlead plan call it, so
// that both report the same in the same words. A Refusal needs a change first; other errors may pass by themselves.
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
//	write.go    bringing a revision into a cluster
//	history.go  the revisions of an extension, and which of them are removed
//
// And of Preflight, in the order of the checks:
//
//	preflight.go    the namespace, and whether the operator can be upgraded
//	definitions.go  upgrades of CustomResourceDefinitions, and rollbacks
//	dropped.go      CustomResourceDefinitions that would be deleted, with their custom resources
//	account.go      what the service account lacks
//	increase.go     permissions in addition to those of the installed revision
package revision
