// Package metrics holds the documented metrics of the v0 API, and those of the v1 API that more than one controller has: their exact names, labels and types,
// one file a kind. Controllers say what they saw; what is counted and which series go away with their object is decided here.
//
// It knows no API kinds. Start reading at Subscriptions.
//
// Open (server.go) serves them over HTTP, with liveness and profiles. Unless it is asked for plain HTTP it speaks TLS, serves metrics to those whom
// the API server allows to read them, and profiles to clients with a certificate.
package metrics
