// Package catalogserver serves catalogs: over gRPC as api.Registry does (api/registry), and over HTTP as JSON lines. One process serves
// many catalogs, each under its own name, and new content takes the place of old without an interruption: a request asks for its catalog
// once, when it begins, and keeps to that Index.
//
// Which catalog a gRPC client means is told by the metadata key MetadataKey or else by the host name it has dialled: of the labels of
// "operators.olm.svc.cluster.local" the longest beginning that names a catalog counts, so "operators.olm" before "operators". A server
// with one catalog only asks for neither. Over HTTP the name is a part of the path, /catalogs/NAME/api/v1/all, and may be left out in the
// same case.
//
// An Index that is served no more is left to the garbage collector, which also closes its file: requests that still read it can be slow.
//
// The package never looks for catalogs: it is given them as a Source, or as the Origins of Run. It never answers with anything that
// depends on the order of a map or on chance. Start reading at source.go and run.go; the answers over gRPC are in registry.go, and those
// over HTTP in http.go.
package catalogserver
