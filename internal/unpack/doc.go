// Package unpack turns a bundle that a catalog names into a *bundle.Bundle: it pulls the image, or takes the manifests that the
// catalog holds itself, in the background, once for everybody who asks, and tries again with growing pauses when that fails.
// It also keeps manifests too large for an InstallPlan in the content store and resolves the references to them.
//
// It runs no pods, writes no Kubernetes objects, and decides nothing about what is installed. Start reading at
// Unpacker.Get (unpacker.go) and Manifests (manifests.go).
package unpack
