// Package image turns an OCI image reference into a verified, size-limited,
// read-only fs.FS, and keeps what it has read in a local content store that
// several processes can share.
//
// It never runs an image, never writes a file under a name that came from an
// image, never follows a link out of an image, and never talks to a registry
// over plain HTTP unless the host is loopback or the configuration says so.
//
// Start reading at Store.Pull in pull.go. What the store lacks is fetched
// (fetch.go): it finds where the image can be read (endpoint.go), reads its
// manifest and configuration (source.go, manifest.go), merges its layers within
// limits (layer.go, merge.go, limits.go) into one file of the store (pack.go),
// and hands that out as a file system (tree.go). Errors are of one type
// (errors.go). Push (push.go) is the other direction, and WriteLayout
// (layout.go) the same onto disk; Platforms (platforms.go) asks what an image
// runs on. NewRegistry (registry.go) is a small registry to talk to on loopback.
package image
