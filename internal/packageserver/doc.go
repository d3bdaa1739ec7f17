// Package packageserver is the aggregated API packages.operators.coreos.com/v1: PackageManifests, which say what catalogs offer. It
// answers from the same immutable indexes that everything else in the process reads, through a small cache of what they were turned into.
//
// A Registration makes the API server find it, and forget it in time: the serving certificate and its Secret, the Service with the address of
// this process behind it, the APIService, and the role by which those who may read a namespace may read packages. An APIService whose server
// does not answer makes discovery fail everywhere, and namespaces cannot be deleted any more. So it is there only while a process serves: it is
// applied after the server listens, and withdrawn before it stops.
//
// The package never loads, fetches or judges a catalog, and a Server writes nothing to the cluster. Start reading at Server (server.go);
// storage.go answers requests, snapshot.go knows who sees what, document.go what a package looks like. Registration.Run (registration.go) keeps
// the objects of registrationobjects.go; withdraw.go is the way back. Store in internal/rollout/serving renews the certificate.
//
// Convert (convert.go) turns a package of an index into a status and its labels. It is pure; a channel whose operator cannot be described is left out.
package packageserver
