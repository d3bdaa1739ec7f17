// Package plancontent says what is written into an InstallPlan for a chosen bundle: a step for each object, the Subscription that keeps
// a dependency up to date, and a record of where the bundle came from.
//
// It is what the controllers that make plans, of Subscriptions and of plans written by hand, have in common. It decides nothing,
// fetches nothing and writes nothing but large manifests to the content store. Start reading at Writer.Steps.
package plansteps
