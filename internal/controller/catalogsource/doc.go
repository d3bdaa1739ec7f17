// Package catalogsource serves the content of CatalogSources. It reads a catalog from where the object says (an image, a ConfigMap, the
// address of a registry server, or a pod that it runs), publishes its index to the set of served catalogs, looks for new content at the interval
// that the object asks for, keeps a Service that answers for the catalog, and reports all that in the status. When new content cannot
// be had the last good content stays published, and the status says so.
//
// It never decides what is installed, and it waits for no registry: reading is done in the background, and brings the object back into
// the queue. Start reading at Controller.Reconcile (controller.go), whose steps are in steps.go. Then:
//
//	schedule.go               when a catalog is looked at
//	origin.go                 where its content comes from; image.go, configmap.go, address.go, pods.go
//	loads.go, links.go        what goes on in the background: reading, connections to registry servers
//	content.go, memory.go, records.go  what is known; what is left of that after a restart
//	service.go, serviceobjects.go      the Service by which clients reach a catalog
//	template.go, kubernetes.go         images that depend on the version of the cluster
//	status.go, connection.go           what is reported
package catalogsource
