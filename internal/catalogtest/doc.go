// Package catalogtest proves that the upgrades of a catalog work: it walks the upgrade graph of each package, under either API, and says of every edge
// what went wrong and what its author does about it.
//
// What is to be walked is decided in walks.go, of nothing but the catalog; cover.go finds the fewest walks. result.go is what is found and
// report.go how it is written.
package catalogtest
