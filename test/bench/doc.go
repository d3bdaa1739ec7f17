// Package bench measures what the manager costs a cluster of many namespaces. The manager runs as a process of its own, so that its
// processor time and memory are those of nothing else. BenchmarkFanOut does so on a real cluster, which is started for it.
// BenchmarkTenants shows the manager very many namespaces, more than a small machine could run: a real cluster is recorded
// (snapshot_test.go) and played back many times over (apiserver_test.go). It holds benchmarks, and the tests of what they need. Start
// reading at BenchmarkFanOut.
package bench
