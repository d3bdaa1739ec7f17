package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/devcluster"
)

func newClusterCommand(s command.Streams) *cobra.Command {
	which := &clusterFlags{}
	cmd := command.Group("cluster", "Run a Kubernetes cluster with simulated pods on this machine",
		newClusterStartCommand(s, which),
		newClusterStopCommand(s, which),
		newClusterStatusCommand(s, which),
		newClusterKubeconfigCommand(s, which),
		newClusterLogsCommand(s, which),
	)
	cmd.Long = `Run a Kubernetes cluster on this machine: a real control plane, simulated nodes and an image registry.
Pods are simulated: they are scheduled and become ready, but nothing runs in them.`
	cmd.PersistentFlags().StringVar(&which.name, "name", devcluster.DefaultName, "name of the cluster")
	cmd.PersistentFlags().StringVar(&which.dataDir, "data-dir", "", "directory of its data (default: one for each name, in the user's cache directory)")
	return cmd
}

// clusterFlags say which cluster is meant.
type clusterFlags struct{ name, dataDir string }

func (f *clusterFlags) dir() (string, error) {
	if f.dataDir != "" {
		return f.dataDir, nil
	}
	return devcluster.DataDir(f.name)
}

func (f *clusterFlags) connect() (*devcluster.Client, error) {
	dir, err := f.dir()
	if err != nil {
		return nil, err
	}
	return devcluster.Connect(dir)
}

// mebibytes is for people.
func mebibytes(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

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
