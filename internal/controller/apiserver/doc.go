// Package apiserver follows the TLS profile of an OpenShift cluster: spec.tlsSecurityProfile of the APIServer cluster of
// config.openshift.io. It sets a tlsprofile.Source, which servers and clients of the manager share, and writes nothing. It runs in every
// manager, whether that leads or not, because all of them serve.
//
// Start reading at Reconcile in controller.go; setup.go has the watches.
package apiserver
