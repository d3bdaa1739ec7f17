package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"

	"fairlead.dev/fairlead/internal/devcluster"
)

func newClusterStopCommand(s command.Streams, which *clusterFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop a cluster; its objects and images stay on disk",
		Args:  command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := which.connect()
			if errors.Is(err, devcluster.ErrNotRunning) {
				fmt.Fprintf(s.Out, "Cluster %s is not running.\n", which.name)
				return nil
			}
			if err != nil {
				return err
			}
			if err := client.Stop(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintf(s.Out, "Cluster %s is stopped.\n", which.name)
			return nil
		},
	}
}
