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
Started again, it has its objects and images back.`,
		Example: `  fairlead cluster start
  export KUBECONFIG=$(fairlead cluster kubeconfig)
  kubectl get nodes`,
		Args: command.Usage(cobra.NoArgs),
	}
	options := devcluster.Options{}
	foreground := cmd.Flags().Bool("foreground", false, "stay, and stop the cluster on interrupt")
	cmd.Flags().IntVar(&options.Nodes, "nodes", 1, "number of simulated nodes")
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
			return format.Write(s.Out, status, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, `Cluster %s is ready after %.1f s, with %s of memory.
  API server  %s
  registry    %s
  kubeconfig  %s
  console     fairlead console --kubeconfig %s
Its pods are simulated: they become ready, but nothing runs in them.
`, status.Name, status.StartSeconds, mebibytes(status.MemoryBytes), status.APIServer, status.Registry, status.Kubeconfig, preview.Quoted(status.Kubeconfig))
				return err
			})
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
