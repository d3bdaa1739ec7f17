// Package resolvecmd holds the commands that tell what would be decided, of a cluster or of files: resolve, why, why-not and outdated.
// Each parses, asks internal/ops/preview and prints. Start reading at Commands; what they have in common is in subject.go.
package resolvecmd
