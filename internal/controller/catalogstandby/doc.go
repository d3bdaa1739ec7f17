// Package catalogstandby reads what catalogs hold in a manager that does not lead: so packages can be read through every manager, and the
// next one to lead finds what it needs on its disk. It reads from where the manager that leads does, when the status of a CatalogSource says
// that there may be something new.
//
// It never writes to the cluster, and decides nothing: what a catalog is, and whether it is run as a pod, is up to package catalogsource.
// Start reading at Standby.Start (standby.go); read.go is how content is read, contents.go how it is seen beside that of the controllers.
package catalogstandby
