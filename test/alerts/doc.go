// Package alerts tries the alert rules of config/monitoring with Prometheus' own engine: what happens to an operator over time is played back as
// the metrics that the manager has then, and each rule has to fire when it is meant to, not before, and for nothing else.
//
// The metrics are in testdata, one file for each state of an operator, or of a catalog; the tests TestMetricsOfAlertStates and
// TestMetricsOfAlertStatesV1 of test/install keep them as the manager writes them.
//
// The queries of the alerts and of the dashboard are compared with what a manager exports that runs. The package has nothing but tests: no program of ours links
// Prometheus.
package alerts
