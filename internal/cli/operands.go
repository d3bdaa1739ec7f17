package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/ops"
)

func newOperandsCommand(s command.Streams) *cobra.Command {
	var o overview
	cmd := &cobra.Command{
		Use:   "operands [NAME]",
		Short: "Count the custom resources of the kinds that installed operators own",
		Long: `Count the custom resources of the kinds that installed operators own, of both APIs, by kind and namespace; a few are named. With NAME those
of one operator are counted: a Subscription, a ClusterServiceVersion, a ClusterExtension or a package.

The operators are those of all namespaces, unless -n or the context of the kubeconfig names one: then those that are installed there, and those
that watch it. Their custom resources count in all namespaces, as far as you may list them. What you may not list is a note.

Exit code 0: all that could be read is shown. 1: something that was named does not exist, or cannot be read. 2: wrong usage.`,
		Example: `  fairlead operands
  fairlead operands etcd -n operators -o json`,
		Args: command.Usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			c, namespace, err := o.cluster.Connect()
			if err != nil {
				return err
			}
			if o.all || !o.cluster.Chosen() {
				namespace = ""
			}
			operands, err := ops.ReadOperands(cmd.Context(), c, namespace, strings.Join(args, ""))
			if err != nil {
				return kubeconfig.Explain(err)
			}
			return o.output.Write(s.Out, operands, operands.Write)
		},
	}
	o.flags(cmd, "the operators of all namespaces, whatever the context of the kubeconfig names")
	return cmd
}
