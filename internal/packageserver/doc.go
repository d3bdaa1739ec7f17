// Package packageserver is the aggregated API packages.operators.coreos.com/v1: PackageManifests, which say what catalogs offer. It
// answers from the same immutable indexes that everything else in the process reads, through a small cache of what they were turned into.
//
// It never loads, fetches or judges a catalog and writes nothing to the cluster: package registration makes the API server find it.
// Start reading at Server (server.go); storage.go answers requests, view.go knows who sees what, document.go what a package looks like.
//
// Convert (convert.go) turns a package of an index into a status and its labels. It is pure; a channel whose operator cannot be described is left out.
package packageserver
