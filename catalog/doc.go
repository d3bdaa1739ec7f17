// Package catalog reads, checks, indexes and writes file-based catalogs: the
// trees of JSON and YAML files that say which operators exist, in which
// channels, and which version upgrades to which.
//
// [Load] turns a file system into a [Catalog], the objects as their authors
// wrote them. [Validate] judges a Catalog and lists every [Problem] with its
// place, the rule and the way out. [NewIndex] makes the immutable [Index] that
// resolvers and servers ask; what is broken is kept out of it, so that one bad
// package does not take the others along. [Build] makes the same Index in a
// file, of which little is in memory, and [Open] opens it without reading the
// catalog again. [WriteJSON] and [WriteYAML] write a Catalog in canonical order.
//
// Catalogs are content from outside. Everything read is bounded by [Limits],
// the same input gives the same result in the same order, and no error names
// an object without the file and line it stands in.
//
// The package never talks to a registry or a cluster, and never looks into a
// ClusterServiceVersion further than a catalog's own rules demand: the bundle
// package does. Start reading at load.go, model.go and index.go, and for the
// file of an Index at indexfile.go.
package catalog
