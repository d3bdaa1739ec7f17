// Package catalogsource is the controller of CatalogSources: it serves their content, and keeps serving the last good content when newer content cannot
// be had.
//
//   - It observes the CatalogSource, its Secrets, its ConfigMap, the registry or server that the spec names, the signature policy, and its own objects.
//   - It decides where the content comes from (an image, a ConfigMap, the address of a server, a pod that it runs) and when it is read next.
//   - It writes the status, spec.image where a template sets it, and the Service, EndpointSlice, Pod, ServiceAccount and NetworkPolicy of the catalog. It
//     publishes the index to the catalogstore.
//   - It sets Ready with the reasons Serving, ServingWithProblems, ServingLastGoodContent, Loading, SpecInvalidError, ConfigMapError and
//     RegistryServerError; the last three and InvalidIntervalError in status.reason too; SignatureVerified; and, for templates, AllTemplatesResolved and
//     UnableToResolve.
//
// It never decides what is installed, and waits for no registry: reading is done in the background, and brings the object back into the queue.
// In a manager that does not lead, Standby (standby.go) reads the same content, and writes nothing.
//
// Start reading at Controller.Reconcile (controller.go), whose steps are in steps.go. Then:
//
//	schedule.go               when a catalog is read
//	origin.go                 where its content comes from; image.go, configmap.go, address.go, pods.go
//	loads.go, links.go        the background: reading, connections to registry servers
//	content.go, memory.go, records.go  what is known, and what remains of that after a restart
//	service.go, serviceobjects.go      the Service by which clients reach a catalog
//	template.go                        images that depend on the version of the cluster
//	status.go, connection.go           what is reported
//	standby.go, standbyread.go         the same content in a manager that does not lead
package catalogsource
