// Package clusterextension reconciles ClusterExtensions: it decides which bundle one is to have, makes a revision of its objects,
// which the controller of ClusterObjectSets rolls out, and tells in the status how that stands.
//
// A pass reads top to bottom in Reconcile (controller.go): observe what there is, decide what is wanted, compare it with the newest revision
// by what that was made from, and only where they differ fetch, render, check and write. The status is a pure function of what was observed
// and what came of it. Nothing that is installed is known from memory: revisions carry the bundle, its properties and what they were made
// from, so a manager that starts, or one whose catalogs are gone, goes on where another stopped.
//
// The package applies no object of a bundle and judges none; docs/clusterextensions.md says what it does, for those who use it.
//
// Start reading at Controller.Reconcile. Then, in the order of a pass:
//
//	observe.go, state.go            what there is: the extension, its revisions, catalogs, other extensions
//	wanted.go, image.go             which bundle is wanted, or which earlier revision
//	target.go                       what is wanted, and what identifies it
//	bring.go                        from there to a revision
//	content.go                      the objects: fetched and rendered, or read from an earlier revision
//	preflight.go, findings.go       what stands in the way, as revision.Preflight judges it; the full report
//	outcome.go                      what came of all this
//	status.go, progress.go,
//	deprecation.go                  the status of that; pure
//	report.go, events.go,
//	metrics.go, heldup.go           writing and telling it
//
// What else a pass looks after:
//
//	certificates.go, trust.go,
//	secrets.go, providers.go        serving certificates: who issues them, the steps of internal/rollout/serving, who trusts them
//	condition.go                    the OperatorCondition
//	dependencies.go, heirs.go,
//	needs.go                        extensions that are made for the needs of others, and what becomes of them
//	adopt.go                        taking over what a ClusterServiceVersion has installed
//	helm.go, releases.go            taking over what another implementation has installed by way of Helm
//	uninstall.go, orphan.go,
//	keep.go                         the end of an extension, and what stays
//
// And what leads to a pass:
//
//	setup.go, watches.go            events, and whom they concern
//	remember.go, notifier.go        news of catalogs and bundles, and whom they concern
//	remembered.go                   what is kept in memory so that it need not be had again
//	starting.go                     waiting for catalogs that were served before a restart
//
// keys.go has the annotations, foretell.go what others have to know to tell beforehand what the controller would do.
package clusterextension
