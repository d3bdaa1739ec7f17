// Package operatorgroup is the controller of OperatorGroups: it selects the target namespaces of a group, publishes
// them in the status, labels them, lists in an annotation which APIs the operators of the group provide there, keeps the
// three ClusterRoles of the group, and says when a namespace has several groups or when the named service account is missing.
//
// It never touches ClusterServiceVersions: their controller reads the group and writes their annotations itself. It never
// writes an object that is as it should be.
//
// Start reading at controller.go. Reconcile observes (observe.go), reports (status.go, pure), lists the APIs (claim.go) and
// acts (clusterroles.go, namespaces.go, account.go; sweep.go looks for labels of groups that are gone); setup.go says what wakes it up.
package operatorgroup
