// Package metrics holds the documented metrics of the v0 API, and those of the v1 API that more than one controller has: their exact names, labels and types,
// one file a kind. Controllers say what they saw; what is counted and which series go away with their object is decided here.
//
// It knows no API kinds and no Kubernetes client. Start reading at Subscriptions.
package metrics
