// Package catalogtest proves that the upgrades of a catalog work: it walks the upgrade graph of each package, under either API, and says of every edge
// what went wrong and what its author does about it.
//
// What is to be walked is decided in walks.go, of nothing but the catalog; cover.go finds the fewest walks. check.go finds what needs no cluster, in the
// catalog and in the bundles of an edge, check_crds.go of that what becomes of CustomResourceDefinitions; images.go asks registries. result.go is what is
// found, rules.go what it means, and report.go how it is written.
package catalogtest
