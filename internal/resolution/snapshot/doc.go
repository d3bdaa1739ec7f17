// Package snapshot translates Kubernetes objects, as they were seen in a cluster or read from files, into what package resolution decides
// on: those of a namespace (Namespace), ClusterExtensions (ExtensionRequest), the ClusterCatalogs with their published content
// (ListCatalogs), and the bundle image that a ClusterExtension names in place of catalogs (BundleImage).
//
// It decides nothing and writes nothing; ListCatalogs alone reads, from a cache as a rule. Start reading at Namespace (namespace.go).
package snapshot
