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
//	builder.go              the problem of either API: solve it, explain what is not in the answer; its front says what one API knows
//	conflict.go, words.go   why there is no answer, and how that reads; kubernetes.go has which bundles need a newer Kubernetes
//	subscriptions.go        the front of a namespace; subscription.go, upgrade.go, limit.go and reasons.go are about one Subscription
//	pool.go                 what can be chosen in a namespace, by node.go and preference.go
//	dependencies.go         what a bundle needs of others in the namespace; constraint.go, formula.go, lookup.go and rulebook.go
//	decision.go             what a solution installs, why, and what is pinned or blocked; trial.go tries advice
//	extension.go            the front of a ClusterExtension: selection.go has its catalogs, candidate.go the bundles it may have
//	requirement.go          what a bundle needs of other extensions, of which world.go knows; guard.go has what others need of it
//	route.go, unread.go     how upgrade edges lead on; what catalogs could not give
//	files that end in advice.go have what to do about a conflict; those in record.go have decisions, written down
//	plan.go, origin.go      what an InstallPlan holds of a decision
package resolution
