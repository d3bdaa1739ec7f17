// Package bundle reads operator bundles of the registry+v1 format and turns them into what is needed from them: the
// olm.bundle of a catalog, the objects of an InstallPlan, and the objects with which a ClusterServiceVersion runs.
//
// A bundle is one value, Bundle, from the moment it is loaded. Everything here is a pure function of its arguments:
// the same bundle gives the same bytes, arguments are never changed, and what comes from outside is read within limits
// of size, number and nesting. The package never talks to a cluster or a registry, never creates certificates, and
// never decides whether a bundle may be installed: Validate reports, callers decide.
//
// Start reading at bundle.go, then load.go. From a bundle:
//
//	metadata.go, manifests.go    how it is read, from files or from the inline manifests of a catalog
//	validate.go                  what installation relies on
//	tocatalog.go                 the olm.bundle of a catalog
//	steps.go, rbac.go            the objects of an InstallPlan, and service accounts with their roles
//	dialect.go, extension.go     what differs between a ClusterServiceVersion in the cluster and a ClusterExtension
//	deployment.go, config.go     the Deployments, with the configuration of a Subscription merged in
//	serving.go, webhook.go       Services, webhook configurations and CRD conversions, with their certificates
//	hash.go                      the hashes that names and labels are made of
package bundle
