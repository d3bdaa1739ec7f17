// Package manifest says what a catalog offers of a package, in the words of the PackageManifest API: it turns a package of a
// *catalog.Index into a status and the labels that come with it.
//
// It is pure: it reads an index and returns values, and knows neither the object that declares the catalog nor the namespaces that see
// it. What the index holds is content from outside; a channel whose operator cannot be described is left out, never invented.
//
// Start reading at Convert; description.go reads ClusterServiceVersions.
package manifest
