// Package registry is the gRPC API of a catalog of operators: messages, clients and the interfaces of servers, all generated from
// registry.proto. Nothing in it is written by hand, and it answers nothing: internal/content/catalogserver does.
//
// Start reading at registry.proto. `go generate` needs no tool but Go.
package registry

//go:generate go run ./internal/generate registry.proto
