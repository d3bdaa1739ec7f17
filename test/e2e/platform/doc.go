// Package platform proves on the embedded cluster, with the kinds of OpenShift that matter, that installed operators hold upgrades of the
// cluster up. It holds tests only. Start reading at platform_test.go.
package platform
