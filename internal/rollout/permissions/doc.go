// Package permissions says what a person lacks to write objects to a cluster, and what more an upgrade lets an operator do.
//
// Missing holds all rules that a service account needs and does not have: for the objects themselves, and for the rights that
// Roles and bindings among them hand on, by the rules of the API server against privilege escalation. Compare says what the service
// accounts of an operator get by a new revision that they did not have by the old one.
//
// The package is pure: it has no client and no clock, reads nothing, writes nothing, and never changes what it is given. Who acts, what
// the cluster grants and which resources there are come in as a RuleSource; internal/rollout/permissions/live reads one from a cluster.
// Bundles and roles were written by others, so all work has limits.
//
// Start reading at missing.go, then:
//
//	subject.go, source.go, rbac.go, read.go   who acts, and what a cluster grants
//	objects.go, escalation.go        what objects need
//	right.go, held.go                single rights, and whether rules hold them
//	compact.go, text.go, grant.go    missing rights as few rules, as text, and as objects that grant them
//	compare.go, given.go, added.go, actas.go   what an upgrade adds
package permissions
