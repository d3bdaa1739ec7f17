package cli

import (
	"context"
	"net/netip"
	"path/filepath"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/devcluster"
	managercmd "fairlead.dev/fairlead/internal/manager"
)

func newManagerCommand(s command.Streams) *cobra.Command {
	cmd := managercmd.New(command.Raw(s.Err), reachEmbedded)
	cmd.Args = command.Usage(cmd.Args)
	cmd.Example = "  fairlead manager --kubeconfig ~/.kube/config"
	return cmd
}

// reachEmbedded finds the embedded cluster whose kubeconfig is used. Its API server reaches this process through the tunnel to pods.
func reachEmbedded(host string, kubeconfigs []string) func(context.Context, netip.AddrPort) (netip.AddrPort, func(), error) {
	for _, file := range kubeconfigs {
		client, err := devcluster.Connect(filepath.Dir(file))
		if err != nil {
			continue // most kubeconfigs are of other clusters
		}
		if status, err := client.Status(context.Background()); err == nil && status.APIServer == host {
			return client.Expose
		}
	}
	return nil
}
