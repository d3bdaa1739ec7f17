// Package history tells which revisions of a ClusterExtension are kept, and whether an earlier one can be gone back to: what would change,
// and whether stored custom resources survive it. It writes what makes the manager go back, and nothing else; the objects are written by the
// manager.
//
// Start reading at Of (history.go), and at Judge (rollback.go). What a step back does to CustomResourceDefinitions is in definitions.go.
package history
