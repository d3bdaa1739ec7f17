// Package browse tells what catalogs offer: packages, their channels and their versions, newest first, with all that is deprecated. It is
// what `fairlead search`, `info` and `versions` print.
//
// A package is described in the same way wherever it is from: an index of a catalog (of a directory, an image, or the HTTP API of a
// ClusterCatalog) or the PackageManifest API of the v0 API. The package decides nothing and writes to no cluster; what would be installed
// is told by internal/preview.
//
// Start reading at Package. Where packages are from is in index.go, manifest.go, server.go and cluster.go; what is asked of them in
// search.go, info.go and versions.go.
package browse
