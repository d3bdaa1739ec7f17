// Package operatorcondition is the controller of OperatorConditions, in which operators say whether they can be upgraded. It makes one for
// each ClusterServiceVersion, lets the service accounts of the operator write it, and takes what they report over into the status, with the
// generation that the report is about.
//
// What follows from a report is the business of the ClusterServiceVersion controller. The name of the object reaches the pods with their
// Deployment (the bundle package), so that this controller has no second hand in Deployments. It never writes overrides and conditions of
// the spec, which belong to administrators and operators.
//
// Start reading at Controller.Reconcile (controller.go); wanted.go is pure.
package operatorcondition
