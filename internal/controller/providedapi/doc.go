// Package providedapi is the controller of the ClusterRoles with which people get access to the APIs of operators: admin, edit and view for each API
// that an operator which runs owns, and one that lets the definition of a custom resource be read. By their labels the cluster gathers them in its own
// roles of these names and in those of the OperatorGroup.
//
//   - It observes ClusterServiceVersions, CustomResourceDefinitions, APIServices, OperatorGroups, ClusterRoles and their bindings.
//   - It decides which operators justify roles.
//   - It writes these ClusterRoles, and removes from a definition the annotations about operators that no longer exist.
//   - It sets no condition. The reasons of its Events are ProvidedRolesRefused and ProvidedRolesRemoved, and those of foreign.go.
//
// An operator only writes down what it owns, so each role has to be justified: by the InstallPlan that brought the definition for this operator, or
// by the label of an administrator on the definition; and where the OperatorGroup has a service account, by the rights of that account. APIs of
// Kubernetes and of lifecycle management itself are never opened. A role exists as long as a ClusterServiceVersion does that justifies it, and is
// removed after the last one. Roles that earlier versions of the manager made without justification are found at the start.
//
// A manager without a rule for every resource has one role more for each CRD that operators manage: for itself, gathered by its own ClusterRole, and
// independent of what users may.
//
// It never writes rules for operators themselves, and touches no role but those that it recognises as made by a lifecycle manager for the definition.
//
// Start reading at controller.go. Then:
//
//	justify.go    what an operator means for the roles of a definition
//	account.go    what the service account of an OperatorGroup may hand on
//	memory.go     which ClusterServiceVersion was meant, should another one take its name
//	remove.go     the end of roles, and what exists beyond the namespaces of a limited manager
//	roles.go      what the roles are; pure
//	managerrole.go  the role of the manager itself
//	setup.go      what wakes it up
package providedapi
