// Package ops carries out what people ask of a cluster, the way they would by hand: status, install, upgrade, roll back, move to a
// ClusterExtension, and uninstall. It serves the CLI, the console and programs alike.
//
// It installs nothing itself: it writes what asks for it, or deletes what owns the rest of an operator, and the manager does the work.
// What would change is a value that can be shown before anything is written. Every step can be interrupted and repeated.
//
//	inspect.go      status: the operators of a namespace in one tree, each with the reason for what is not yet done; survey.go for all
//	                namespaces; list.go lists the operators in a table
//	operator.go     one operator with all that belongs to it: pods with the cause of a failure, definitions, webhooks, conditions and events
//	doctor.go       the set-up of a cluster, one function a check: what is wrong with which object, and what to do; it writes nothing
//	install.go      namespace, OperatorGroup and Subscription; installextension.go for a ClusterExtension; upgrade.go; wait.go
//	                until it runs, or nothing more happens; summary.go says what has come
//	removal.go      a Removal: what goes and what stays (uninstallsubscription.go, uninstallextension.go, crds.go); remove.go does it
//	history.go      the revisions of a ClusterExtension; rollback.go decides whether an earlier one can be restored
//	gather.go       a Mover makes a ClusterExtension of a Subscription's operator in place (move.go), and undoes that (undo.go).
//	                Its parts: the record of the backup (movekept.go), the approval of the Subscription (thaw.go), the steps of the adoption and of the
//	                restoration. internal/ops/migrate decides. Nothing changes before the Secret with the backup is there; until the objects belong
//	                to the ClusterExtension, the ClusterServiceVersion has them.
//
// CustomResourceDefinitions with custom resources stay unless each of them is named; then their custom resources go first, while the
// operator still runs and can do what their finalizers stand for. Start reading at InspectNamespace, InstallPackage and Removal.
package ops
