// Package bundleimage lets a ClusterExtension have a bundle straight from an image, which no catalog has: for tests and hotfixes. An annotation
// names the image by its digest, and what is decided on is a catalog of that one bundle: dependencies, configuration, permissions and CRDs are
// judged as for any other.
//
// The package is pure. Who decides fetches the bundle first, unless a revision tells what it is. Start reading at Of (bundleimage.go).
package bundleimage
