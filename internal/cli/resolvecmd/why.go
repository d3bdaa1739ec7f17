package resolvecmd

import (
	"context"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops/preview"
)

func newWhyCommand(s command.Streams) *cobra.Command {
	f := subject{streams: s}
	cmd := &cobra.Command{
		Use:   "why OPERATOR",
		Short: "Tell why an operator is, or would be, installed",
		Long: `Tell why an operator is, or would be, installed: what asks for it, and what asks for that, up to a Subscription; and which rule preferred
it over what comes next. OPERATOR is the name of a ClusterServiceVersion, of its package or of its Subscription, or of a bundle that a ClusterExtension has or
gets, of its package or of the ClusterExtension.
` + subjectHelp + `

Exit code 0: it is said why. 3: it is not installed and would not be. 1: something that was named cannot be read. 2: wrong usage.`,
		Example: `  fairlead why etcd -n operators
  fairlead why etcdoperator.v0.9.4 --catalog cat=./catalog --subscribe vault`,
		Args: oneArgument("OPERATOR", preview.CheckOperator),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.decide(cmd, func(_ context.Context, p *preview.Preview) error {
				w := p.Why(args[0])
				if err := f.output.Write(s.Out, w, w.Write); err != nil {
					return err
				}
				if w.State == preview.StateAbsent {
					return command.ExitError{Code: command.ExitNo}
				}
				return nil
			})
		},
	}
	f.flags(cmd)
	return cmd
}
