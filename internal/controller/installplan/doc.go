// Package installplan carries out InstallPlans: it waits for approval, brings the objects of the steps about, and writes down how
// far each step got until the plan is Complete or Failed. Plans that people wrote, which only name ClusterServiceVersions, it first
// gives their steps.
//
// A pass reads everything first and writes nothing when it would have to stop half way; it can be interrupted at any write, and
// the next pass finishes. CRDs come first, then ClusterServiceVersions and what belongs to the cluster, then what they own.
//
// The package never decides what is installed (the plan says so), never changes the steps of a plan of a Subscription but for their
// status, never removes a plan, and never overwrites what another operator owns.
//
// Start reading at Controller.Reconcile (controller.go). Then:
//
//	handwritten.go            resolver: from the names in a plan to its steps: survey.go (what is there), finding.go (which
//	                          bundles), fetch.go (having them)
//	observe.go                what is read before a pass: the OperatorGroup, the operators of the cluster
//	status.go                 the state machine, pure: decide before, and conclude after a pass
//	execute.go, outcome.go    a pass: phases for the apply engine, and its result as the status of steps
//	steps.go, crd.go          stepWriter: from a step to an object and the rules for it
//	crdready.go               replacements: whether CRDs may be replaced, as internal/rollout/crd judges them; their objects: crdobjects.go
//	crdclaim.go               what the claim of the plan on a CRD lets it do; internal/rollout/claims judges it
//	verifier.go, signature.go verifier: whether the bundles of the plan are verified before it begins
//	obstacles.go              retrier: whether a plan that failed has reason to be made once more
//	operators.go              which operators there are; who owns what, and who replaces whom, is in internal/rollout/claims
//	manifests.go, images.go   where the content of a step comes from
//	window.go                 upgrades: whether those of a plan wait for an upgrade window
//	permitted.go              whether the account of the plan may go on, and whether the plan is out of date
//	watches.go                watcher: from events to the plans that they concern
//	report.go                 the one status patch; warnings as Events
package installplan
