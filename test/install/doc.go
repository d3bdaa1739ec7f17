// Package install proves the manifests in config: that its two forms make the same, and that the manager can do its work with no other
// rights than those that they give.
package install
