package cli

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"

	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/internal/ops/preview"
)

func newClusterStartCommand(s command.Streams, which *clusterFlags) *cobra.Command {
	var format command.Output
	cmd := &cobra.Command{
		Use:   "start",
		Short: "Start a cluster, in the background unless told otherwise",
		Long: `Start a cluster and return when it runs pods. It keeps running in the background until 'fairlead cluster stop'.
Started again, it has its objects and images back.

With --real-node pods run on this machine, by containerd and kubelet, in a network of their own; the machine's own containerd is left alone. What is missing
for it is listed before anything is done. A machine is the node of one cluster at a time.`,
		Example: `  fairlead cluster start
  export KUBECONFIG=$(fairlead cluster kubeconfig)
  kubectl get nodes
  sudo fairlead cluster start --real-node --name real`,
		Args: command.Usage(cobra.NoArgs),
	}
	options := devcluster.Options{}
	foreground := cmd.Flags().Bool("foreground", false, "stay, and stop the cluster on interrupt")
	cmd.Flags().IntVar(&options.Nodes, "nodes", 1, "number of simulated nodes")
	cmd.Flags().BoolVar(&options.RealNode, "real-node", false, "make this machine the cluster's node, with pods that really run; Linux, as root, with containerd")
	format.Flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		options.Name, options.DataDir = which.name, which.dataDir
		// What becomes of each component, and when.
		w := s.Err
		var mu sync.Mutex
		began := time.Now()
		options.Progress = func(component string, state devcluster.State) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(w, "%5.1fs  %-24s %s\n", time.Since(began).Seconds(), component, state)
		}
		report := func(status devcluster.Status) error {
			return format.Write(s.Out, status, func(w io.Writer) error { return writeStarted(w, status) })
		}
		if *foreground {
			// Keep a cluster until the context ends or it stops by itself.
			ctx := cmd.Context()
			cluster, err := devcluster.Start(ctx, options)
			if err != nil {
				return err
			}
			defer cluster.Stop()
			if err := report(cluster.Status()); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-cluster.Done():
				return cluster.Err()
			}
		}
		client, err := devcluster.Detach(cmd.Context(), options)
		if err != nil {
			return err
		}
		status, err := client.Status(cmd.Context())
		if err != nil {
			return err
		}
		return report(status)
	}
	return cmd
}

// writeStarted says how a cluster is reached, and what its pods are.
func writeStarted(w io.Writer, status devcluster.Status) error {
	pods := "Its pods are simulated: they become ready, but nothing runs in them."
	if status.RealNode {
		pods = "Its pods run on this machine. They pull what was pushed to the registry as " + status.Registry + "/NAME:TAG; programs in them reach it at " + status.PodRegistry + "."
	}
	_, err := fmt.Fprintf(w, `Cluster %s is ready after %.1f s, with %s of memory.
  API server  %s
  registry    %s
  kubeconfig  %s
  console     fairlead console --kubeconfig %s
%s
`, status.Name, status.StartSeconds, mebibytes(status.MemoryBytes), status.APIServer, status.Registry, status.Kubeconfig, preview.Quoted(status.Kubeconfig), pods)
	return err
}
