// Package clusterextension reconciles ClusterExtensions: it decides which bundle one is to have, makes a revision of its objects,
// which the controller of ClusterObjectSets rolls out, and tells in the status how that stands.
//
// A pass reads top to bottom in Reconcile (controller.go): observe what there is (observe.go), decide what is wanted (wanted.go), compare
// it with the newest revision by what that was made from (inputs.go), and only where they differ fetch, render, check and write (make.go,
// preflight.go). The status is a pure function of what was observed and what came of it (status.go, progress.go, deprecation.go). Nothing
// that is installed is known from memory: revisions carry the bundle, its properties and what they were made from, so a manager that
// starts, or one whose catalogs are gone, goes on where another stopped.
//
// The package applies no object of a bundle and judges none; docs/clusterextensions.md says what it does, for those who use it.
package clusterextension
