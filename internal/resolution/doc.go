// Package resolution decides what to install next, for both APIs: Namespace for the Subscriptions of a namespace, Extension for a
// ClusterExtension. Its input are values: what is requested, what is installed, and the catalogs; its output is a decision with its
// reasons, or a Conflict. A decision is recorded with its inputs and can be made again from that record.
//
// The package translates: catalog semantics (channels, upgrade edges, version ranges, dependencies, constraints, priorities) become a
// resolve.Problem, and its solution becomes bundles to install. It never talks to a cluster, a registry or a clock; the same request has
// the same answer, in whatever order its parts are listed. docs/resolution.md and docs/resolution-v1.md say what it decides.
//
// Start reading at Namespace (namespace.go) or Extension (extension.go). Then:
//
//	conflict.go             why there is no answer, for both APIs
//	kubernetes.go           which bundles need a newer Kubernetes
//	subscription.go         what a Subscription may move to; upgrade.go, limit.go and reasons.go belong to it
//	problem.go              the problem of a namespace; node.go has what can be chosen
//	dependencies.go         what a bundle needs of others in the namespace; constraint.go, formula.go, lookup.go and rulebook.go
//	candidate.go            which bundles an extension may have, and what refuses them
//	world.go                what is installed beside an extension, and what was asked about it
//	requirement.go          what a bundle needs of other extensions; guard.go has what others need of it
//	*advice.go, *held.go    what to do, and what is newer and was not chosen
//	*record.go              decisions, written down
package resolution
