// Package inspect gathers how the operators of a namespace stand, from the objects themselves, into one tree: catalogs,
// Subscriptions, the plans and operators that belong to them, and their Deployments, each with the reason for what is not yet done.
// It reads and never writes. Start reading at Namespace; Write prints the tree.
package inspect
