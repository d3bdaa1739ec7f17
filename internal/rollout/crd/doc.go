// Package crd judges what becomes of a CustomResourceDefinition of the cluster, prepares its stored objects for that, and hands its conversion over from one
// version of an operator to the next.
//
// Judge is the one entry, for installation, upgrade, rollback and removal under both APIs. A judgement has two halves. The rules are pure: no client, no
// clock, and no argument is changed. Those for InstallPlans are about owners, and served and stored versions; those for ClusterExtensions compare every
// property of every schema. Where a rule fires that stored objects can answer, they decide: whether one of them becomes invalid, as the API server would
// say, loses a field, or would be deleted. What was invalid before does not count. A verdict also says which objects have to be rewritten before.
//
// Stored objects are read and rewritten page by page; one page is in memory at a time. Objects keep a Scan between the passes over an InstallPlan; Backs
// keep those that block a ClusterExtension's way back. A Migration rewrites objects that may be stored in a version that goes, and then removes the version
// from status.storedVersions. Its progress is an annotation of the CRD, so that it survives a restart.
//
// Start reading at judge.go, then:
//
//	finding.go, exempt.go             what a judgement finds, and what lets findings pass
//	rules.go, owners.go, storage.go   the rules for InstallPlans; of owners; of stored versions, for both APIs
//	safety.go, properties.go          the checks for ClusterExtensions; one check a function
//	objects.go, back.go               what stored objects say of an upgrade, and of a way back
//	scan.go, pages.go, count.go       reading stored objects
//	migration.go, rewrite.go          rewriting stored objects
//	validator.go, schema.go           objects against schemas
//	conversion.go                     who converts, and the hand-over
package crd
