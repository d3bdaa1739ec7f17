package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

func newClusterKubeconfigCommand(s command.Streams, which *clusterFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "kubeconfig",
		Short:   "Print the path or the content of a cluster's kubeconfig",
		Example: "  export KUBECONFIG=$(fairlead cluster kubeconfig)",
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
