// Package render turns references into catalogs. A reference is what a user names on a command line: a directory or a file of a
// catalog, the directory of a bundle, a directory in the older package-manifest layout, or an image of a catalog or a bundle.
//
// The package finds out which of these it is, reads it, and puts it into the form in which catalogs are exchanged. It neither judges
// the result, which catalog.Validate does, nor writes it. Images are read through the package image alone, and proved to exist by
// Images.
//
// Start reading at Renderer.Render; Resolve says what a reference is.
package render
