// Package webhooks proves on the embedded cluster that the webhooks and aggregated APIs of ClusterServiceVersions work: the API server asks
// real HTTPS servers, which stand in the place of simulated pods and show the certificate that is mounted into these. It holds tests only.
// Each test has a namespace of its own; test/e2e/README.md says which scenario is where.
//
// Start reading at world (main_test.go), then server (server_test.go).
package webhooks
