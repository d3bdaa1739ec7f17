// Package clusterobjectset is the controller of ClusterObjectSets, the revisions of ClusterExtensions: it applies their objects phase by
// phase, corrects drift, reports how far they are, and removes them again in reverse order.
//
// It never changes what a revision consists of, and writes no object of another owner, unless the revision says so. Which revisions exist is
// decided by those who write them.
//
// Start reading at Controller.Reconcile (controller.go); setup.go has what it works with and the events that lead to a pass. Then:
//
//	rollout.go     a pass over an active revision
//	content.go     contents: what a revision consists of, and whether that is unchanged
//	found.go       the objects of a revision whose content is lost
//	memory.go      what does not have to be read again
//	family.go      the other revisions of an extension, and the owner of an object; pure
//	probes.go      when an object is available; pure
//	converting.go  converters: definitions whose conversion moves to another server
//	status.go      reporter: conditions, Events, the log and metrics
//	teardown.go    a pass over a revision that is removed
//	definitions.go keeper: definitions that stay or go first, for the sake of their custom resources
//	handover.go    what returns to an older revision, and what stays without an owner
//	identity.go    identities: the service account that a revision acts as
//	watches.go     the kinds of objects that are watched, and for whom
//	wake.go        the revisions that an event concerns
package clusterobjectset
