// Package operatorcondition is the controller of OperatorConditions, in which operators report whether they can be upgraded.
//
//   - It observes ClusterServiceVersions, OperatorConditions, and their Roles and RoleBindings.
//   - It decides which conditions of the spec the status adopts, with the generation that the report is about.
//   - It writes an OperatorCondition for each ClusterServiceVersion, its status, and the Role and RoleBinding by which the service accounts of the
//     operator write it.
//   - It sets the conditions that operators report, with their reasons. The reason of its Event is NameTaken.
//
// What follows from a report is up to the ClusterServiceVersion controller. The name of the object reaches the pods with their Deployment (the bundle
// package), so this controller does not write Deployments. It never writes overrides and conditions of the spec, which belong to administrators and
// operators.
//
// Start reading at Controller.Reconcile (controller.go); desired.go is pure.
package operatorcondition
