// Package preview tells what the controllers would decide for a namespace, without a cluster or without touching it: what would be
// installed, why, why something else would not be, and how far behind each operator is.
//
// It puts together what a namespace holds, from the objects of a cluster, from files and from what a user says in short, reads the
// catalogs, and lets internal/observed and internal/plan decide as the Subscription controller does. It decides nothing by itself and
// never writes to a cluster.
//
// Start reading at Question.Decide. What is said in short is in wish.go; the answers are in resolution.go, outdated.go, why.go and
// whynot.go. A ClusterExtension is asked about in extension.go.
package preview
