// Package crdupgrade judges the step from the CustomResourceDefinition that a cluster has to one that is to replace it.
//
// Two sets of rules, one for each API, share their comparison of versions, schemas and findings. Judge holds the rules for
// InstallPlans: who owns a CRD, which versions are served and stored, which objects must be looked at. Safety holds the checks of
// CRD upgrade safety for ClusterExtensions: every property of every schema. Validator says of one stored object whether an upgrade
// makes it invalid, in the way the API server would: what was invalid before is nobody's fault now.
//
// The package is pure: it has no client and no clock, reads nothing, writes nothing, and never changes what it is given. Reading
// objects, page by page, is the work of internal/stored.
//
// Start reading at finding.go, then:
//
//	judge.go, storage.go, owners.go   the rules for InstallPlans; tenants.go: owners in several namespaces
//	safety.go, policy.go              the checks for ClusterExtensions, and what switches them off
//	properties.go, bounds.go          one check a function
//	flatten.go                        from a schema to properties by path
//	report.go                         many findings as one bounded message
//	validator.go, schema.go           objects against schemas
package crdupgrade
