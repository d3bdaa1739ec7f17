// Package permissions says what a person lacks to write objects to a cluster, and what more an upgrade lets an operator do.
//
// Missing holds all rules that a service account needs and does not have: for the objects themselves, and for the rights that
// Roles and bindings among them hand on, by the rules of the API server against privilege escalation. Compare says what the service
// accounts of an operator get by a new revision that they did not have by the old one.
//
// What judges is pure: it has no client and no clock, and never changes what it is given. Who acts, what the cluster grants and which
// resources there are come in as a RuleSource, which read.go reads from a cluster. Bundles and roles were written by others, so all work
// has limits.
//
// The manager acts with its own rights, or those of any service account, for who writes ClusterExtensions and ClusterObjectSets.
// ValidatingAdmissionPolicies decide who may ask for which identity: PolicyChecker tells whether a cluster has them in force. Where one is
// missing or weakened, what depends on it is refused. Missing ones are created; one that exists is never changed.
//
// Start reading at missing.go, then:
//
//	source.go, rbac.go, read.go               who acts, and what a cluster grants
//	objects.go, escalation.go        what objects need
//	right.go, held.go                single rights, and whether rules hold them
//	compact.go, text.go, grant.go    missing rights as few rules, as text, and as objects that grant them
//	compare.go, given.go, added.go, actas.go   what an upgrade adds
//	power.go                         which rights reach far
//	policy.go, policy_judge.go, policy_shipped.go   the admission policies of a cluster, compared with what is shipped
package permissions
