// Package clusterserviceversion is the controller of ClusterServiceVersions: it checks what an operator needs, runs it,
// registers its webhooks and aggregated APIs, heals what is changed or lost, hands over to the version that replaces
// it, and says in the status what it is waiting for.
//
// The state machine is a table (table.go): from a phase, when something is observed, do something and go to another
// phase. A pass (pass.go) follows the table until it has nothing more to say, so several phases are gone through at
// once and written once. Observing never writes; doing is in a few actions. Observations are made only when a row asks
// for them, from caches, and nothing is polled: setup.go says what wakes a ClusterServiceVersion up.
//
// The package never acts on a copy of a ClusterServiceVersion, never makes CRDs, service accounts or the roles that a
// ClusterServiceVersion asks for (an InstallPlan does), and never decides what Deployments, Services and webhooks look
// like (the bundle package does).
//
// Start reading at table.go, then transition.go, pass.go, controller.go and facts.go. What the observations look at:
//
//	group.go, modes.go, tenants.go  the OperatorGroup, the install modes, and who else provides the same APIs
//	requirements.go, crds.go,       what has to be there before the install
//	  apis.go, accounts.go,
//	  granted.go, rules.go
//	chain.go, meanwhile.go          replacements, and what is healed while a version or its group waits
//	conflicts.go                    who has what several own
//	components.go, deployments.go,  what the install strategy wants and what there is of it
//	  certificates.go, inherit.go, renewal.go, serving.go, served.go, apiservices.go,
//	  hooks.go, webhooks.go, conversion.go, endpoints.go, handover.go, disruption.go
//	reach.go, lift.go, copies.go,   permissions in the target namespaces, under names that nobody else has
//	  names.go, withdraw.go
//	compare.go, subset.go           whether an object is as it is wanted
//
// and what the actions do: install.go, adoption.go, apply.go, finalize.go; failure.go tells kinds of failure apart.
package clusterserviceversion
