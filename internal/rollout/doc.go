// Package rollout brings objects into a cluster and takes them out again: phases of objects, written in parallel within a
// phase and in order between phases, by server-side apply under one field manager.
//
// A run first reads every object and decides, and writes nothing at all when it would have to stop half way: an object that
// belongs to another owner, or a caller's own objection, refuses the whole run. What is there already as desired is left alone,
// fields of other managers survive, and a run that was interrupted at any write is finished by the next one. The outcome of
// each object is a value; the caller makes statuses, events and retries of it.
//
// The package never decides what is to be installed, never waits (a Probe reports what is still missing), and keeps nothing
// between runs.
//
// Start reading at Engine.Apply (engine.go). Then:
//
//	object.go                       what a caller asks for
//	observe.go, writing.go          the two halves of a run
//	managedfields.go, normalize.go  when an object is as desired
//	claim.go, owners.go             who an object belongs to
//	probe.go, health.go, results.go what comes back
//	cause.go, stable.go             why the pods of a workload do not run, and whether they stay
//	responses.go                    what an answer of the API server means
//	teardown.go                     the way back
//	accounts.go                     clients that act as a service account
package rollout
