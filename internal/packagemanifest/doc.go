// Package packagemanifest reads the layout in which operators were published before there were bundles and file-based catalogs, and
// turns it into objects of a catalog.
//
// Such a directory is about one package. One file in it, by custom called <package>.package.yaml, names the package and its channels,
// each with the ClusterServiceVersion at its head. The ClusterServiceVersions and their CRDs are beside it or in directories below,
// by custom one for each version. A directory may also hold several packages, each in a directory of its own. As no images come with
// the layout, the manifests become part of the catalog.
//
// The package judges package files, in check.go, and nothing else: catalog.Validate judges the result. Start reading at Convert.
package packagemanifest
