// Package devcluster runs a real Kubernetes control plane on this machine, for tests, for demonstrations and for trying
// operators out: etcd, kube-apiserver, kube-controller-manager and kube-scheduler as child processes, simulated nodes and
// pods, and an OCI registry on loopback. Simulated pods become ready but run nothing; Route lets a server on the host
// answer in the place of one. With Options.RealNode this machine is the node instead, and pods run on it (node.go, package realnode).
//
// This package is the supervisor and its clients, and the harness that gives all tests of a run one shared cluster. It
// never links Kubernetes, etcd or kwok itself: package components does, and the children are the program's own binary
// started again under another name. Linux and macOS are supported.
//
// A child's standard input is a pipe that the supervisor holds open and never writes to: when the supervisor dies, by whatever signal, the child
// reads the end of it and exits (process.go). The API server reaches servers on the host, in the place of simulated pods, through a proxy that
// dials nothing but registered loopback addresses (tunnel.go).
//
// Start reading at Start, which brings a cluster up inside the calling process; Detach does so in a process of its own, and
// Connect finds a cluster that another process runs. Tests use Main, Config, Namespace, Registry and Route.
package devcluster
