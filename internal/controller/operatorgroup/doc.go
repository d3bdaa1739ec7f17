// Package operatorgroup is the controller of OperatorGroups: it selects the target namespaces of a group, publishes
// them in the status, labels them, keeps the three ClusterRoles of the group, and says when a namespace has several
// groups or when the named service account is missing.
//
// It never touches ClusterServiceVersions: their controller reads the status of the group and writes their annotations
// itself. It never writes an object that is as it should be.
//
// Start reading at controller.go. Reconcile observes (observe.go), acts (clusterroles.go, namespaces.go, account.go) and
// reports (status.go, pure); setup.go says what wakes it up.
package operatorgroup
