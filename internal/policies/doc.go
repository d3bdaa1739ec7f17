// Package policies knows the ValidatingAdmissionPolicies that the v1 API relies on, and judges whether a cluster has them in force.
//
// The manager acts with its own rights, or those of any service account, for who writes ClusterExtensions and ClusterObjectSets. The policies
// decide who may ask for which identity. Where one is missing or weakened, what depends on it is refused.
//
// The package reads and creates policies; it never changes one that exists. Start reading at Checker (checker.go); judge.go compares one
// policy with what is shipped.
package policies
