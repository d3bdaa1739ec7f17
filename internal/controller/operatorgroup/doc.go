// Package operatorgroup is the controller of OperatorGroups.
//
//   - It observes OperatorGroups, Namespaces, the named ServiceAccount, the ClusterServiceVersions of the namespace with the definitions that they own,
//     and its ClusterRoles.
//   - It decides the target namespaces of a group, and which APIs its operators provide there (internal/tenancy).
//   - It writes the status, the annotation with the provided APIs, the labels of the target namespaces and of the service account, and the three
//     ClusterRoles of the group.
//   - It sets, where they hold, MultipleOperatorGroup with the reason MultipleOperatorGroupsFound, OperatorGroupServiceAccount with
//     ServiceAccountNotFound, and OperatorGroupInvalid with InvalidTargetNamespaces or InvalidName.
//
// It never touches ClusterServiceVersions: their controller reads the group and writes their annotations itself. It never writes an object that is as
// it should be.
//
// Start reading at controller.go. Reconcile observes (observe.go), reports (status.go), lists the APIs (claim.go) and acts (clusterroles.go and
// namespaces.go, which also removes the labels of groups that are gone); setup.go has the events.
package operatorgroup
