// Package grpccatalog is about catalogs that other programs serve over gRPC (api/registry): it asks such servers, and runs one as a pod
// for an image that the manager does not serve itself.
//
// Client turns what a server reports about a whole catalog into objects of one. The size and number of messages are bounded, as they are
// content from outside. It never judges a catalog and keeps nothing.
//
// Desired pods, Services, ServiceAccounts and NetworkPolicies, and the next step, are pure functions of a CatalogSource, the Settings of
// the manager and what was observed. Keeper carries them out: it writes what differs, and nothing when nothing does. It also removes what
// another implementation ran for a catalog in a ConfigMap. It never waits, and writes no status: what it returns is for a status to be
// made of.
//
// Start reading at Dial and Client.Catalog (client.go, catalog.go) for the client, and at Wanted (objects.go), Decide (decide.go) and
// Keeper.Ensure (keeper.go) for the pod. Then:
//
//	names.go                      names and label values that the API server accepts, whatever the catalog is called
//	pod.go, podconfig.go          the pod, and what the settings and spec.grpcPodConfig change in it, its security profile
//	extract.go                    the pod that serves content extracted from the image
//	objects.go                    the other objects
//	verdict.go, decide.go, update.go   what is to be done about the pods that there are
//	digest.go                     what a pod really runs
//	companions.go, pods.go, leftovers.go  carrying it out
package grpccatalog
