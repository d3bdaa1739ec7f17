package cli

import (
	"io"

	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

func newStatusCommand(s command.Streams) *cobra.Command {
	var k kubeconfig.Flags
	var format command.Output
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show how the operators of a namespace stand, and why what is not done is not done",
		Long: `Show how the operators of a namespace stand: its OperatorGroup and catalogs, each Subscription with its InstallPlan, its
ClusterServiceVersion and Deployments, and the reason for everything that is not done yet.`,
		Args: command.Usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := format.Check(); err != nil {
				return err
			}
			c, namespace, err := k.Connect()
			if err != nil {
				return err
			}
			report, err := ops.InspectNamespace(cmd.Context(), c, namespace)
			if err != nil {
				return kubeconfig.Explain(err)
			}
			return format.Write(s.Out, report, func(w io.Writer) error { return report.Write(w) })
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	format.Flag(cmd)
	return cmd
}
