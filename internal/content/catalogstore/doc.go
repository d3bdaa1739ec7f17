// Package catalogstore reads catalogs into indexes and keeps these in a directory, so that a catalog is read once and opened in no time
// whenever it is asked for again. It reads images, directories, and the content of ConfigMaps.
//
// Any number of processes may use the same directory, and each may be killed at any moment: an index appears by one rename, complete or
// not at all, and is built again when it is damaged or another build of the program wrote it. What another build has made is only used
// where there is nothing else, see [Cache.Earlier]. What else is in the directory is left alone. An index is found by what it was made
// from, never by a name alone: by the digest of an image, or of the content of a directory. To find out that a directory is what it was,
// the names, sizes and times of its files are enough as long as they are old enough to tell; see [Cache.Enforce].
//
// Set is what the catalog controllers and the controllers that resolve share without knowing each other: the catalogs that are being served.
//
// The package judges no catalog, never decides what is served, and knows no Kubernetes client. Start reading
// at [Cache.FS] and [Cache.Dir]; then ImageReader.Read (reader.go) and ReadConfigMap (read.go).
package catalogstore
