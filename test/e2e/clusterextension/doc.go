// Package clusterextension proves on a cluster what ClusterExtensions promise: installation, upgrades, recovery, status, removal, and that
// what users change stays. test/e2e/README.md lists the scenarios.
package clusterextension
