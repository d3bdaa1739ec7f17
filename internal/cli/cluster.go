package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/devcluster"
)

func newClusterCommand(s command.Streams) *cobra.Command {
	which := &clusterFlags{}
	cmd := command.Group("cluster", "Run a Kubernetes cluster on this machine, with simulated pods or real ones",
		newClusterStartCommand(s, which),
		newClusterStopCommand(s, which),
		newClusterStatusCommand(s, which),
		newClusterKubeconfigCommand(s, which),
		newClusterLogsCommand(s, which),
	)
	cmd.Long = `Run a Kubernetes cluster on this machine: a real control plane, simulated nodes and an image registry.
Pods are simulated: they are scheduled and become ready, but nothing runs in them. With 'cluster start --real-node' they run.`
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
		Use:     "stop",
		Example: `  fairlead cluster stop`,
		Short:   "Stop a cluster; its objects and images stay on disk",
		Args:    command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := which.connect()
			if errors.Is(err, devcluster.ErrNotRunning) {
				if err := devcluster.CleanUpNode(); err != nil {
					return err
				}
				fmt.Fprintf(s.Out, "Cluster %s is not running.\n", which.name)
				return nil
			}
			if err != nil {
				return err
			}
			if err := client.Stop(cmd.Context()); err != nil {
				return err
			}
			if err := devcluster.CleanUpNode(); err != nil { // what the supervisor could not remove, and why
				return err
			}
			fmt.Fprintf(s.Out, "Cluster %s is stopped.\n", which.name)
			return nil
		},
	}
}

func newClusterKubeconfigCommand(s command.Streams, which *clusterFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the path or the content of a cluster's kubeconfig",
		Example: "  fairlead cluster kubeconfig\n  export KUBECONFIG=$(fairlead cluster kubeconfig)",
		Args:    command.Usage(cobra.NoArgs),
	}
	content := cmd.Flags().Bool("content", false, "print the file rather than its path; it holds the administrator's key")
	cmd.RunE = func(*cobra.Command, []string) error {
		client, err := which.connect()
		if err != nil {
			return fmt.Errorf("%w; start it with: fairlead cluster start", err)
		}
		if !*content {
			_, err := fmt.Fprintln(s.Out, client.KubeconfigPath())
			return err
		}
		file, err := os.ReadFile(client.KubeconfigPath())
		if err != nil {
			return fmt.Errorf("read the kubeconfig: %w", err)
		}
		_, err = s.Out.Write(file)
		return err
	}
	return cmd
}

func newClusterLogsCommand(s command.Streams, which *clusterFlags) *cobra.Command {
	names := devcluster.LogNames()
	cmd := &cobra.Command{
		Use: "logs [COMPONENT]",
		Example: `  fairlead cluster logs
  fairlead cluster logs kube-apiserver`,
		Short:     "Print the logs of a cluster's components, also after it has stopped",
		Long:      "Print the log of a component, or of all, each line with the component's name.\nComponents: " + strings.Join(names, ", "),
		Args:      command.Usage(cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs)),
		ValidArgs: names,
	}
	var options devcluster.LogOptions
	cmd.Flags().BoolVarP(&options.Follow, "follow", "f", false, "go on with what is logged from now on, until interrupted")
	cmd.Flags().IntVar(&options.Tail, "tail", -1, "number of last lines of each log; -1 for all")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := which.dir()
		if err != nil {
			return err
		}
		if len(args) == 1 {
			options.Component = args[0]
		}
		return devcluster.WriteLogs(cmd.Context(), s.Out, dir, options)
	}
	return cmd
}
