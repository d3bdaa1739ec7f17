// Package packagemanifest reads directories of package manifests as catalogs.
//
// Package manifests are how operators were published before there were bundles and file-based catalogs. Such a directory is about one
// package. One file in it, by custom called <package>.package.yaml, names the package and its channels, each with the
// ClusterServiceVersion at its head. The ClusterServiceVersions and their CRDs are beside it or in directories below, by custom one for
// each version.
//
// The package judges package files (check.go), not the catalog that they become. Start reading at Convert.
package packagemanifest
