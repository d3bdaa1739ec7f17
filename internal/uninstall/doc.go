// Package uninstall removes an operator, and says first what goes and what stays: a ClusterExtension, or a Subscription with its
// ClusterServiceVersion.
//
// A Removal is what was found out (subscription.go with find.go, brought.go and around.go; extension.go with content.go, needed.go and along.go; crds.go). It is a value that is shown before anything is done (text.go).
// Carrying it out (run.go, definitions.go) removes what it says and nothing else. CustomResourceDefinitions with custom resources stay unless each of them
// is named; then their custom resources go first, while the operator still runs and can do what their finalizers stand for.
//
// The package deletes what owns the rest of an operator; the manager takes that away, in its order. Start reading at Removal.
package uninstall
