// Package catalogsource serves the content of CatalogSources: it pulls the image of a catalog, indexes it and publishes the index
// to the catalogset, looks for new content at the interval that the object asks for, and reports all that in the status. When new
// content cannot be had the last good content stays published, and the status says so.
//
// It never runs pods and never decides what is installed. Start reading at Controller.Reconcile (controller.go); when content is
// looked for is in schedule.go, how it is loaded in load.go, what is reported in status.go.
package catalogsource
