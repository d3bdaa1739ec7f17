// Package apply brings objects into a cluster and takes them out again: phases of objects, written in parallel within a
// phase and in order between phases, by server-side apply under one field manager.
//
// A run first reads every object and decides, and writes nothing at all when it would have to stop half way: an object that
// belongs to somebody else, or a caller's own objection, refuses the whole run. What is there already as wanted is left alone,
// fields of other managers survive, and a run that was interrupted at any write is finished by the next one. The outcome of
// each object is a value; the caller makes statuses, events and retries of it.
//
// The package never decides what is to be installed, never waits (a Probe says what is still missing), keeps nothing between
// runs, and knows no kind of this project.
//
// Start reading at Engine.Apply (engine.go). Then:
//
//	object.go                 what a caller asks for
//	observe.go, write.go      the two halves of a run
//	fields.go, normalize.go   when an object is as wanted
//	owners.go                 who an object belongs to
//	probe.go, result.go       what comes back
//	teardown.go               the way back
//	warnings.go, accounts.go  warnings of the API server; clients that act as a service account
package apply
