// Package realnode proves with a real node what simulated pods cannot show: that pods run, find each other by name, answer the API server, and are gone
// without a trace when the cluster stops or was killed. It takes the machine as a node, so it runs where FAIRLEAD_TEST_REALNODE=1 says so, as .ci/nightly does.
// Start reading at TestRealNode.
package realnode
