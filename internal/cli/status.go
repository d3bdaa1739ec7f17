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
		Use:   "status [NAME...]",
		Short: "Show the state of the operators of a namespace, of both APIs, and the reason for what is not done",
		Long: `Show the state of the operators of a namespace: its OperatorGroup and catalogs, each Subscription with its InstallPlan, its
ClusterServiceVersion and Deployments, each ClusterExtension with its revisions and Deployments, and the reason for everything that is not
done yet. With names only what has one of them is shown: of an object, a package, or anything below it.`,
		RunE: func(cmd *cobra.Command, names []string) error {
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
			if report, err = report.Only(names); err != nil {
				return err
			}
			return format.Write(s.Out, report, func(w io.Writer) error { return report.Write(w) })
		},
	}
	k.AddCluster(cmd.Flags())
	k.AddNamespace(cmd.Flags())
	format.Flag(cmd)
	return cmd
}
