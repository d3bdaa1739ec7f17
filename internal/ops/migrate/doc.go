// Package migrate decides how an operator that a Subscription has installed becomes a ClusterExtension without its workloads being touched:
// which objects are adopted, what of them stays as it was found, what goes, and what stands in the way. It also reads the releases that
// another implementation of ClusterExtensions keeps in Secrets.
//
// Everything here is a value that follows from values: the package has no client. internal/ops gathers what is asked here and does
// what is decided, and internal/controller/clusterextension makes the first revision of what Adopt returns.
//
// Start reading at Plan (plan.go). Then:
//
//	whose.go      who has an object, and what of it stays as it was found
//	refuse.go     what a ClusterExtension cannot express
//	extension.go  the ClusterExtension that asks for what a Subscription asked for
//	release.go    what the v0 API leaves on objects, and objects without it
//	backup.go     what is kept for the way back
package migrate
