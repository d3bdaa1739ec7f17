// Package pagedlist fills caches page by page where the API server cannot stream lists. Servers of Kubernetes before 1.34, and those that have
// this switched off, answer with all objects at once, and what a cache leaves out of each of them is thrown away only after all have
// been read: the memory for that is many times what the cache needs. With pages, no more than one of them is held in full.
//
// Start at NewInformer, which goes into the options of a cache. The package knows no kinds, and uses no client but the one that a cache has.
package pagedlist
