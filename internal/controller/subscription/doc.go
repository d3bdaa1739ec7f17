// Package subscription is the controller of Subscriptions. Its unit of work is a namespace, because the Subscriptions of one depend on each other.
//
//   - It observes the Subscriptions, OperatorGroups, ClusterServiceVersions and InstallPlans of the namespace, and the catalogs in view.
//   - It lets internal/resolution decide, for each independent group of Subscriptions, which bundles are to be installed.
//   - It fetches these bundles and writes InstallPlans, removes those that are superseded or old, and writes the status of every Subscription.
//   - It sets Ready, and Stalled where nothing continues without a change, with the reasons of verdict.go; CatalogSourcesUnhealthy and CatalogProblem
//     (catalogs.go); InstallPlanPending, InstallPlanFailed, InstallPlanMissing, ResolutionFailed, BundleUnpacking and BundleUnpackFailed (progress.go);
//     HeldBack (held.go); and the conditions about deprecation.
//
// The package never executes a plan and never touches an operator. Start reading at Controller.Reconcile (controller.go): observe.go gathers, request.go
// translates into resolution.NamespaceRequest, act.go ensures that there are plans (fetch.go, installplan.go, collect.go), and
// report.go reports. What is reported of one Subscription is a function of its view (view.go): verdict.go, conditions.go, catalogs.go, held.go,
// progress.go and status.go. docs/subscriptions.md is the page for users.
package subscription
