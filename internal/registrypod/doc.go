// Package registrypod runs the server of a catalog as a pod, for the images that are not served by the manager itself: the pod, its
// Service, ServiceAccount and NetworkPolicies. It removes what another implementation ran for a catalog in a ConfigMap.
//
// What is wanted and what is to be done next are pure functions of a CatalogSource, the Settings of the manager
// and what was observed. Keeper carries them out: it writes what differs, and nothing when nothing does. It never waits, keeps
// nothing but what it has tidied up already, never reads a catalog, and writes no status: what it returns is for a status to be made of.
//
// Start reading at Wanted (objects.go), Decide (decide.go) and Keeper.Ensure (keeper.go). Then:
//
//	names.go                      names and label values that the API server accepts, whatever the catalog is called
//	pod.go, podconfig.go          the pod, and what spec.grpcPodConfig changes in it
//	extract.go                    the pod that serves content taken out of the image
//	security.go, memory.go        security profiles; memory targets
//	service.go, account.go, policy.go  the other objects
//	verdict.go, decide.go, update.go   what is to be done about the pods that there are
//	digest.go                     what a pod really runs
//	companions.go, pods.go, leftovers.go  carrying it out
package registrypod
