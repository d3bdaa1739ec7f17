// Package reconcile holds what every controller shares: which events lead to which requests and when, how soon a failed request is
// repeated, what kind of failure an error is, caches beside that of the manager, and when the cluster has time for what is not urgent.
//
// The package decides nothing about the objects that are reconciled, and writes nothing. Start reading at After (requests.go). Then:
//
//	requests.go        events to requests: bursts, sources beside the API server, one Secret, back-off
//	failures.go        kinds of failures: transient, terminal, and all others, which are retried and reported
//	superseded.go      failed writes that an event follows, by which their object is reconciled again anyway
//	quiescence.go      when to write what follows an installation: copies, roles, labels
//	cache.go           a cache for one controller
//	pagedcache.go      caches that are filled page by page where the API server cannot stream lists
//	clusterversion.go  the version of the cluster, remembered
package reconcile
