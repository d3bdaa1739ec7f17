// Package api holds the kinds of the sample operators, group demo.fairlead.dev: Greeting, which the greeter looks after,
// and Guestbook, which the guestbook operator does.
//
// It is data. The CustomResourceDefinitions in the newest sample bundles describe the same fields; a test compares them.
// Start reading at greeting.go.
//
// +groupName=demo.fairlead.dev
// +kubebuilder:object:generate=true
package api

//go:generate go tool controller-gen object paths=.
