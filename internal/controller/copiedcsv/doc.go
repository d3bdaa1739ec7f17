// Package copiedcsv is the controller of the copies of ClusterServiceVersions: each target namespace of an operator has a
// copy of its ClusterServiceVersion, which tells the users of the namespace that the operator watches it. The controller
// makes copies, keeps them like their source, undoes what others change, and removes those that are out of place. A second,
// small controller reports in the OLMConfig whether copying is disabled, and what that has come to.
//
// It never touches a ClusterServiceVersion that is no copy. It holds no copy in memory but its metadata: the API server is
// asked for nothing else, and what a copy was made from is remembered in an annotation on it. A copy is one request, so that
// a new namespace costs one look at each operator that watches it, however many namespaces and copies there are.
//
// Start reading at controller.go. Reconcile finds the source of a copy (source.go, standing.go, which is pure), compares
// (content.go says what a copy has to be, copy.go what is known of it) and writes (writer.go). watches.go says what wakes it
// up, report.go is about the OLMConfig.
package copiedcsv
