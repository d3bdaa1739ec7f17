// Package installplan carries out InstallPlans: it waits for approval, brings the objects of the steps about, and writes down how
// far each step got until the plan is Complete or Failed.
//
// A pass reads everything first and writes nothing when it would have to stop half way; it can be interrupted at any write, and
// the next pass finishes. CRDs come first, then ClusterServiceVersions and what belongs to the cluster, then what they own.
//
// The package never decides what is installed (the plan says so), never changes a plan's steps but for their status, never removes a
// plan, and never overwrites what another operator owns.
//
// Start reading at Controller.Reconcile (controller.go). Then:
//
//	observe.go                what is read: the OperatorGroup, the operators of the cluster
//	status.go                 the state machine, pure: decide before, and conclude after a pass
//	execute.go, outcome.go    a pass: phases for the apply engine, and its result as the status of steps
//	steps.go, crd.go          from a step to an object and the rules for it
//	operators.go              who owns what, and who replaces whom
//	manifests.go              where the content of a step comes from
//	await.go                  CRDs that are not served yet
//	report.go, events.go      the one status patch; warnings as Events
package installplan
