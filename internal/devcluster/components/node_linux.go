package components

import (
	"context"

	"github.com/spf13/cobra"
	kubeproxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"fairlead.dev/fairlead/internal/devcluster"
)

// A real node needs the kernel of Linux, so elsewhere its components are not linked in.
func init() {
	commands[devcluster.Kubelet] = func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }
	commands[devcluster.KubeProxy] = kubeproxy.NewProxyCommand
	commands[devcluster.Containerd] = newContainerdCommand
	// Files of pods' volumes are read by the users of their containers; their directory is closed to others by its parent.
	openUmask[devcluster.Kubelet], openUmask[devcluster.Containerd] = true, true
}
