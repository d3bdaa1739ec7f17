// Package realnode makes this machine the one node of an embedded cluster: what the kernel, containerd, kubelet and kube-proxy need to run real
// pods, and what becomes of it when the cluster ends or was killed. It needs Linux and root.
//
// It starts no process that stays, and knows nothing of the control plane: devcluster does and does. It installs nothing: Check says what is missing.
// Everything that it puts into a directory lies in one, and everything else is in the record of the machine (record.go), so that the next start
// finds what a killed one left.
//
// Start reading at Attach.
package realnode
