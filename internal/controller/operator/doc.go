// Package operator is the controller of Operators, which show in one place what an installed operator consists of. It puts the component
// label of a package on the objects that belong to it, and keeps a list of all objects with that label, with their conditions, in the
// status of the Operator <package>.<namespace>.
//
// It makes an Operator when there is a component, and never deletes one. Of components it writes that label and nothing else; what they
// hold is never read, beyond metadata and conditions.
//
// Start reading at Controller.Reconcile (controller.go); names.go and status.go are pure.
package operator
