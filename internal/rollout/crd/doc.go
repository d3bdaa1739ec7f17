// Package crd judges the step from the CustomResourceDefinition that a cluster has to one that is to replace it, and prepares the stored objects for it.
//
// A judgement has two halves. The rules are pure: no client, no clock, and no argument is changed. Judge holds those for InstallPlans: owners, served and
// stored versions, which objects must be read. Safety holds the checks of CRD upgrade safety for ClusterExtensions: every property of every schema. Leaving
// holds for both APIs: which stored versions have to be rewritten before. A Validator reports whether an upgrade makes one stored object invalid, as the API
// server would; what was invalid before does not count.
//
// Where a rule fires, stored objects decide. A Scan reads them page by page. Objects keep a scan between the passes over an InstallPlan; Backs keep those
// that bar a ClusterExtension's way back. A Migration rewrites objects that may be stored in a version that goes, and then removes the version from
// status.storedVersions. Scans and migrations take a number of pages, return, and continue from there the next time. The progress of a migration is an
// annotation of the CRD, so that it survives a restart. One page is in memory at a time.
//
// Start reading at finding.go, then:
//
//	judge.go, owners.go, storage.go   the rules for InstallPlans; of owners; of stored versions, for both APIs
//	safety.go, properties.go          the checks for ClusterExtensions; one check a function
//	exempt.go                         what lets findings pass
//	objects.go, back.go               what stored objects say of an upgrade, and of a way back
//	scan.go, pages.go, count.go       reading stored objects
//	migration.go, rewrite.go          rewriting stored objects
//	validator.go, schema.go           objects against schemas
package crd
