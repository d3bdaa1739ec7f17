// Package platform says what a newer version of the cluster means for the operators that are installed: whether their authors know them to
// work on the next minor version of OpenShift, and whether they use APIs that a version of Kubernetes serves no more.
//
// The package is pure: it has no client and no clock, and reads and writes nothing. internal/controller/platform tells an OpenShift cluster;
// internal/ops reads what is installed, for fairlead check.
//
// Start reading at upgradeable.go for OpenShift and at check.go for Kubernetes, which has the APIs and when they went, then release.go, which knows
// that OpenShift 4.23 and 5.0 are one.
//
// Source (source.go) holds the TLS profile in force, by the names that administrators of clusters know: versions, cipher suites and key exchanges
// (profile.go). The controller of the platform sets it to that of the cluster.
package platform
