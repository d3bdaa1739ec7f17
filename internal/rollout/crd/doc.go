// Package crd judges the step from the CustomResourceDefinition that a cluster has to one that is to replace it, and prepares the stored objects for it.
//
// Two sets of rules, one for each API, share their comparison of versions, schemas and findings. Judge holds the rules for InstallPlans: owners, served
// and stored versions, which objects must be read. Safety holds the checks of CRD upgrade safety for ClusterExtensions: every property of every schema.
// Validator reports whether an upgrade makes one stored object invalid, as the API server would; what was invalid before does not count. These are pure:
// no client, no clock, and no argument is changed.
//
// Scan reads the stored objects page by page and asks a Validator which of them the upgrade makes invalid. Migration rewrites those that may be stored in
// a version that goes, and then removes the version from status.storedVersions. Both take a number of pages, return, and continue from there the next
// time; the progress of a migration is an annotation of the CRD, so that it survives a restart. One page is in memory at a time.
//
// Start reading at finding.go, then:
//
//	judge.go, storage.go, owners.go   the rules for InstallPlans; tenants.go: owners in several namespaces
//	safety.go, policy.go              the checks for ClusterExtensions, and what switches them off
//	properties.go, bounds.go          one check a function
//	flatten.go                        from a schema to properties by path
//	report.go                         many findings as one bounded message
//	validator.go, schema.go           objects against schemas
//	scan.go, migration.go             stored objects; pages.go: what the two share; position.go: how far a migration is
package crd
