// Package copiedcsv is the controller of the copies of ClusterServiceVersions: each target namespace of an operator has a copy of its
// ClusterServiceVersion, by which users of the namespace see that the operator watches it.
//
//   - It observes ClusterServiceVersions, OperatorGroups, Namespaces, the OLMConfig, and the metadata of copies.
//   - It decides which copies exist, and which part of a copy differs from its source.
//   - It creates, corrects and removes copies. A second, small controller writes the status of the OLMConfig, and Events about operators that are not
//     copied.
//   - It sets DisabledCopiedCSVs with the reasons CopiedCSVsEnabled and CopiedCSVsDisabled.
//
// It never touches a ClusterServiceVersion that is no copy. It holds no copy in memory but its metadata: the API server is asked for nothing else, and
// an annotation on a copy records what it was made from. A copy is one request, so that a new namespace costs one check of each operator that watches it,
// however many namespaces and copies there are.
//
// Start reading at controller.go. Reconcile finds the source of a copy (source.go), compares (content.go is what a copy has
// to be, copy.go what is known of it) and writes (writer.go). watches.go has the events, report.go the OLMConfig.
package copiedcsv
