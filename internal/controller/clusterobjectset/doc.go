// Package clusterobjectset is the controller of ClusterObjectSets, the revisions of ClusterExtensions: it applies their objects phase by
// phase, keeps them as they are meant to be, tells how far they are, and takes them out again in reverse order.
//
// It never changes what a revision consists of, and touches no object that belongs to somebody else, unless the revision says so. Which
// revisions there are is the business of those who make them.
//
// Start reading at Controller.Reconcile (controller.go), of which setup.go says what it is given and what wakes it. Then:
//
//	rollout.go     a pass over an active revision
//	content.go     what a revision consists of, and whether it is what it was
//	memory.go      what needs no second look
//	siblings.go    the other revisions of an extension
//	rules.go       who an object belongs to; pure
//	probes.go      when an object is available; pure
//	converting.go  definitions whose conversion goes from one server to another
//	serving.go     whether the server that converts now goes on doing so
//	status.go      what is told, and writing it
//	metrics.go     what is counted
//	teardown.go    a pass over a revision that goes
//	definitions.go definitions that stay or go first, for the sake of their custom resources
//	operands.go    whether a definition has custom resources
//	ending.go      with what a revision goes, and what was agreed to be lost
//	found.go       the objects of a revision whose content is lost
//	release.go     what stays, but is no longer the revision's
//	handover.go    what goes back to an older revision instead of going
//	identity.go    the service account that a revision acts as
//	watches.go     the kinds of objects that are watched, and for whom
//	wake.go        whom an event concerns
package clusterobjectset
