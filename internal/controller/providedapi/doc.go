// Package providedapi is the controller of the ClusterRoles with which people get access to the APIs of operators: admin,
// edit and view for each API that an operator which runs owns, and one that lets the definition of a custom resource be
// read. By their labels the cluster gathers them in its own roles of these names and in those of the OperatorGroup.
//
// It never writes rules for operators themselves, and never deletes a role: each belongs to the CustomResourceDefinition or
// APIService that it is about, and goes with it.
//
// Start reading at controller.go. roles.go, which is pure, says what the roles are; setup.go says what wakes it up.
package providedapi
