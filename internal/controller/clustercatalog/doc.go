// Package clustercatalog is the controller of ClusterCatalogs: it serves their content, and keeps serving the last good content when newer content cannot
// be had.
//
//   - It observes the ClusterCatalog, the pull secret of the manager, the registry of spec.source and the signature policy.
//   - It decides what is read and when. The manager that leads follows spec.source. The others serve what the status names as resolved, so that all
//     serve the same, and the next one to lead has the content already.
//   - It writes, where it leads, the status and the label with the name. It publishes the index to the catalogstore, for decisions, and to a catalogserver,
//     for clients.
//   - It sets Progressing with the reasons Succeeded, Retrying and Blocked, Serving with Available, Unavailable and UserSpecifiedUnavailable, and
//     SignatureVerified.
//
// The status outlives a restart: the content that it names by digest is opened from disk, and no registry is needed. The package never decides what is
// installed, keeps no finalizer, and waits for no registry: reading is done in the background and brings the object back into the queue.
//
// Start reading at Controller.Reconcile (controller.go). Then:
//
//	content.go    what is known of a catalog; recall.go what of that a start finds again
//	target.go     what is to be read; schedule.go when
//	read.go       reading in the background, and with which credentials
//	status.go     what is reported; mark.go the label
//	serving.go    where clients find it
package clustercatalog
