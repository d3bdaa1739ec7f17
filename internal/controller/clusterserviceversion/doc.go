// Package clusterserviceversion is the controller of ClusterServiceVersions: it checks what an operator needs, runs it,
// registers its webhooks and aggregated APIs, corrects drift, hands over to the version that replaces
// it, and reports in the status what it is waiting for.
//
// The state machine is a table (table.go): from a phase, when an observation holds, do something and go to another
// phase. A pass follows the table until it rests (walk.go), so several phases are gone through at
// once and written once. It has four parts:
//
//   - observe: the observer (observer.go) is all that reads. It returns values, each read when a row first needs it (snapshot.go).
//   - decide: observers.go names the value that each observation needs and how it is judged. Values know no client.
//   - act: the actor (actor.go) is all that writes, and returns what it has changed as an effect. A snapshot forgets what an effect has changed.
//   - report: one write of the status (report in walk.go, write in controller.go).
//
// Observations are made from caches, and only when a row asks for them; nothing is polled: setup.go declares what triggers a pass.
//
// The package never acts on a copy of a ClusterServiceVersion, never makes CRDs, service accounts or the roles that a
// ClusterServiceVersion asks for (an InstallPlan does), and never decides what Deployments, Services and webhooks look
// like (the bundle package does).
//
// Start reading at table.go, then walk.go, controller.go and snapshot.go. The values:
//
//	group.go                  the OperatorGroups of the namespace, and who else provides the same APIs
//	chain.go                  replacements, and who has what several own
//	requirements.go, grants.go what has to be there before the install; evidence.go reads it
//	certificates.go           serving certificates
//	workload.go               the objects of the install strategy, and the health of its Deployments
//	apiservices.go            owned aggregated APIs: who has them, and whether their servers run
//	permissions.go            permissions in the target namespaces, under names that are free
//	webhooks.go, handshake.go webhooks, conversions, and whether their servers answer
//	change.go                 what differs, and whether it may be written
//
// Further actions are in renewal.go, finalize.go and cleanup.go.
package clusterserviceversion
