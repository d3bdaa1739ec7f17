// Package diff compares two catalogs: what was added, removed and changed of
// packages, channels, upgrade edges, bundles, deprecations and other objects,
// and what that means for those who run operators from the catalog.
//
// Order and layout do not count, nor where an object is defined. Of a change,
// every field is named with what it was and is. A consequence that takes
// something away from running clusters is breaking: a channel that is gone, a
// version that has no way to the head of its channel any more, a head that
// steps back to an older version.
//
// Catalogs that break rules are compared as well; only consequences need
// channels that hold together. The same two catalogs always give the same
// report, at a cost in proportion to their size. The package does no input or
// output except for writing a Report. Start reading at compare.go.
package diff
