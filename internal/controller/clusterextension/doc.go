// Package clusterextension reconciles ClusterExtensions: it decides which bundle one is to have, makes a revision of its objects,
// which the controller of ClusterObjectSets rolls out, and reports the status.
//
// A pass reads top to bottom in Reconcile (controller.go): observe, decide the next step, and only where that is another revision fetch,
// render, check and write. The status is a pure function of what was observed and of the outcome. Revisions carry
// the bundle, its properties and what they were made from. So a manager that starts, or has no catalogs, continues where another stopped.
//
// The package applies no object of a bundle and judges none; docs/clusterextensions.md says what it does, for those who use it.
//
// Start reading at Controller.Reconcile. Then, in the order of a pass:
//
//	observe.go                      the extension, its revisions, catalogs, other extensions
//	resolve.go                      what catalogs offer, or the image that the extension names; internal/rollout/desired decides the step
//	execute.go                      the step: from there to a revision
//	content.go, signature.go        the objects: fetched and rendered, or read from an earlier revision
//	preflight.go                    what is in the way, as revision.Preflight judges it; the full report
//	status.go                       the status; pure
//	report.go, metrics.go           the outcome of a pass, and reporting it
//
// What else a pass looks after:
//
//	certificates.go, trust.go       serving certificates: who issues them, the steps of internal/rollout/serving, who trusts them
//	condition.go                    the OperatorCondition
//	dependencies.go                 extensions that are made for the needs of others, and what becomes of them
//	adopt.go                        adopting what a ClusterServiceVersion has installed
//	helm.go                         adopting what another implementation has installed by way of Helm
//	uninstall.go                    the end of an extension, and what stays
//
// And what leads to a pass:
//
//	setup.go, interests.go          events, and the extensions that they concern
package clusterextension
