// Package plan decides which operators a namespace should have next. Its input are values: the Subscriptions, the operators
// that are installed, and the catalogs in view; its output are, for each independent group of Subscriptions, the bundles to
// install and what they replace, or an explanation why there is no answer. The answer can be asked why and why not, and is recorded
// so that it can be found again.
//
// The package translates: catalog semantics (channels, upgrade edges, dependencies, constraints, priorities) become a resolve.Problem,
// and a resolve.Solution becomes an ordered list of Choices. It never talks to a cluster, a registry or a clock, and knows no API
// kinds; the same input always gives the same output, in whatever order its parts are listed. docs/resolution.md says what it decides,
// for those who use it.
//
// Start reading at Namespace (decide.go). The rules are in request.go and upgrade.go (what a Subscription may move to), adopt.go (which
// operator it stands for), dependencies.go, constraint.go and formula.go (what a bundle needs), and preference.go (what is preferred).
// What is told about an answer is in because.go, held.go, conflict.go, advice.go, why.go, whynot.go and standing.go.
package plan
