// Package bundleio is where bundles come from and go to: directories, images in registries, images on disk, ConfigMaps, and the catalogs
// that name them.
//
// Unpacker turns a bundle that a catalog names into a *bundle.Bundle: it pulls the image, or takes the manifests that the catalog holds
// itself, in the background, once for all callers, and retries with growing back-off. Manifests too large for an InstallPlan are kept in
// the content store. Renderer turns references of a command line (a catalog, a bundle, package manifests; a directory, a file or an
// image) into a catalog. Publisher makes a catalog of bundle directories and pushes both. Open, Extract and Publish move one bundle.
//
// It runs no pods, judges nothing itself (catalog.Validate and bundle/validate do), and decides nothing about what is installed. It never
// overwrites a file that it did not write, and never writes outside the directory that it is given. Start reading at Unpacker.Get
// (unpacker.go), Renderer.Render (render.go) and Open (open.go).
package bundleio
