// Package clustercatalog serves the content of ClusterCatalogs. It reads a catalog from its image, publishes its index to the set of served catalogs, for
// decisions, and to a catalogserver, for clients; looks for newer content at the interval that the object asks for; and reports all that in
// the status. When newer content cannot be had, the last good content stays, and the status says so.
//
// Every manager runs it. The one that leads follows spec.source and writes to the cluster: the label, the status. The others serve what
// the status names as resolved, so that all serve the same, and whoever leads next has the content already. The status is also what
// outlives a restart: the content that it names by digest is opened from disk, and no registry is needed.
//
// The package never decides what is installed, keeps no finalizer, and waits for no registry: reading is done in the background and brings
// the object back into the queue. Start reading at Controller.Reconcile (controller.go). Then:
//
//	content.go    what is known of a catalog; recall.go what of that a start finds again
//	target.go     what is to be read; schedule.go when
//	read.go       reading in the background; secret.go with which credentials
//	status.go     what is reported; mark.go the label
//	serving.go    where clients find it
package clustercatalog
