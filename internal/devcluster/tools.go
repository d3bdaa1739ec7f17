//go:build tools

package devcluster

// Requirements of k8s.io/kubernetes that no package here imports, but without which go mod tidy would drop them from go.mod.
import (
	_ "k8s.io/cri-streaming/pkg/streaming"
	_ "k8s.io/sample-apiserver/pkg/apis/wardle"
)
