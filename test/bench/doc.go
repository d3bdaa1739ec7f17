// Package bench measures what the manager costs a cluster of many namespaces: a cluster of its own is started, and the
// manager runs as a process of its own, so that its processor time and memory are those of nothing else. It holds benchmarks
// only. Start reading at BenchmarkFanOut.
package bench
