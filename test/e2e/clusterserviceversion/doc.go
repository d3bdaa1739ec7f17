// Package clusterserviceversion proves on the embedded cluster what ClusterServiceVersions do to an operator: what has to be there first,
// how it is run, healed, configured, replaced and removed. It holds tests only. Each test has a namespace of its own and makes by hand what an
// InstallPlan would make; test/e2e/README.md says which scenario is where.
//
// Start reading at world (main_test.go).
package clusterserviceversion
