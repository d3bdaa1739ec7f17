package cli

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"

	"fairlead.dev/fairlead/internal/devcluster"
)

func newClusterStatusCommand(s command.Streams, which *clusterFlags) *cobra.Command {
	var format command.Output
	cmd := &cobra.Command{
		Use: "status",
		Example: `  fairlead cluster status
  fairlead cluster status -o json`,
		Short: "Show a cluster's components, addresses and memory",
		Long:  fmt.Sprintf("Show a cluster's components, addresses and memory. The exit code is %d when it is not running.", command.ExitNo),
		Args:  command.Usage(cobra.NoArgs),
	}
	format.Flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		var status devcluster.Status
		client, err := which.connect()
		switch {
		case err == nil:
			status, err = client.Status(cmd.Context())
		case errors.Is(err, devcluster.ErrNotRunning):
			status.Name = which.name
			status.DataDir, err = which.dir()
		}
		if err != nil {
			return err
		}
		err = format.Write(s.Out, status, func(w io.Writer) error {
			table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
			if !status.Running {
				fmt.Fprintf(table, "Cluster:\t%s\nState:\tnot running\nData:\t%s\n", status.Name, status.DataDir)
				return table.Flush()
			}
			fmt.Fprintf(table, "Cluster:\t%s\n", status.Name)
			fmt.Fprintf(table, "State:\trunning as process %d for %s\n", status.PID, time.Since(status.Started).Round(time.Second))
			fmt.Fprintf(table, "Memory:\t%s\n", mebibytes(status.MemoryBytes))
			fmt.Fprintf(table, "API server:\t%s\n", status.APIServer)
			fmt.Fprintf(table, "Registry:\t%s\n", status.Registry)
			kind := "simulated"
			if status.RealNode {
				kind = "real: this machine"
			}
			fmt.Fprintf(table, "Nodes:\t%d, %s\n", status.Nodes, kind)
			fmt.Fprintf(table, "Kubeconfig:\t%s\n", status.Kubeconfig)
			fmt.Fprintf(table, "Data:\t%s\n\n", status.DataDir)
			if err := table.Flush(); err != nil {
				return err
			}
			fmt.Fprintln(table, "COMPONENT\tSTATE\tPID\tMEMORY\tLOG")
			for _, c := range status.Components {
				fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", c.Name, c.State, c.PID, mebibytes(c.MemoryBytes), c.Log)
			}
			return table.Flush()
		})
		if err == nil && !status.Running {
			err = command.ExitError{Code: command.ExitNo}
		}
		return err
	}
	return cmd
}
