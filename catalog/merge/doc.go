// Package merge makes one catalog of several, as a maintainer does who composes
// a catalog of those that the authors of operators write.
//
// What one object is must be said once: where two sources say different things
// about a package, channel, bundle or the deprecations of a package, that is an
// error that names both places, or, if one source is preferred, the whole
// package is taken from that one. Objects that are the same in all places count
// once. Objects of schemas that are not known have no identity: they are all
// kept, except for exact repetitions.
//
// The package neither reads nor writes files and does not judge the result: a
// catalog that is composed of sound packages is sound, and catalog.Validate
// tells about any other. Start reading at merge.go.
package merge
