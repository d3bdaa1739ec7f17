// Package subscription keeps the operators of a namespace as its Subscriptions want them: it observes the namespace, lets
// internal/resolution decide, fetches the chosen bundles, writes what is to be installed down as InstallPlans, one for each
// independent group of Subscriptions, and reports on every Subscription.
//
// The unit of work is a namespace, because its Subscriptions depend on each other. The package never executes a plan and never
// touches an operator. Start reading at Controller.Reconcile (controller.go): observe.go gathers, request.go translates into
// resolution.NamespaceRequest, act.go sees to it that there are plans (fetch.go, installplan.go, steps.go, supersede.go, collect.go), and report.go tells
// how it stands. What is told of one Subscription is a function of its view (view.go): verdict.go, conditions.go, catalogs.go, progress.go,
// repeat.go and status.go. docs/subscriptions.md says it for users.
package subscription
