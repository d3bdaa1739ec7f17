// Package catalogsource serves the content of CatalogSources. It reads a catalog from where the object says (an image, a ConfigMap, the
// address of a registry server, or a pod that it runs), publishes its index to the catalogset, looks for new content at the interval
// that the object asks for, keeps a Service that answers for the catalog, and reports all that in the status. When new content cannot
// be had the last good content stays published, and the status says so.
//
// It never decides what is installed, and it waits for no registry: reading is done in the background, and brings the object back into
// the queue. Start reading at Controller.Reconcile (controller.go). When content is looked for is in schedule.go, where it comes from
// in origin.go and a file for each origin, what is kept beside a CatalogSource in service.go, what is reported in status.go.
package catalogsource
