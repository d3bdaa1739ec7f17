// Package clusterobjectset tries revisions on the embedded cluster, as users see them: objects that are rolled out phase by phase, kept as
// they are meant to be, and taken out again. Start reading at revision_test.go.
package clusterobjectset
