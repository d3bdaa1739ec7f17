// Package reconcile holds what every controller shares: which events lead to which requests and when, how an object is read and its status
// written, what kind of failure an error is and how soon its request is retried, caches beside that of the manager, and when the cluster has
// time for what is not urgent.
//
// The package decides nothing about the objects that are reconciled. Start reading at Typed (object.go). Then:
//
//	requests.go        events to requests: bursts, sources beside the API server, one Secret, back-off
//	queue.go           the queue of requests, which shuts down in order
//	object.go          the frame of a pass over an object: read, finalizer, step, result; the lines of its log
//	status.go          the one status write of a pass
//	verdict.go         done, in progress, stalled or held: the conditions that GitOps tools read
//	failures.go        kinds of failures, and what the queue does about each: transient, terminal, superseded, and all others
//	quiescence.go      when to write what follows an installation: copies, roles, labels
//	cache.go           a cache for one controller
//	pagedcache.go      caches that are filled page by page where the API server cannot stream lists
//	upgraderules.go    what says when upgrades may begin, and when to requeue one that is held
//	clusterversion.go  the version of the cluster, remembered
package reconcile
