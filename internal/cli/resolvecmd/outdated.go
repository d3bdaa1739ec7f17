package resolvecmd

import (
	"context"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/ops/preview"
)

func newOutdatedCommand(s command.Streams) *cobra.Command {
	f := subject{streams: s}
	cmd := &cobra.Command{
		Use:   "outdated",
		Short: "Compare each Subscription and ClusterExtension with what there is: next, allowed, channel head, newest, and what holds it",
		Long: `Compare what each Subscription, and each ClusterExtension, has installed with what there is.

  NEXT             what would be installed in its place now
  ALLOWED          where the upgrade edges of what it follows lead to in the end; for a ClusterExtension as far as its needs are met
  CHANNEL HEAD     the newest entry of the channel that it follows
  NEWEST ANYWHERE  the highest version in any channel of any catalog in view, and IN which
  HELD BY          what is in the way of something newer

What holds it back, and what to do about it, is said in full below.
` + subjectHelp + `

Exit code 0: it was compared. 1: something that was named cannot be read. 2: wrong usage.`,
		Example: `  fairlead outdated -n operators
  fairlead outdated --catalog cat=./catalog --installed etcdoperator.v0.9.2@cat/alpha`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.decide(cmd, func(ctx context.Context, p *preview.Preview) error {
				o, err := p.Outdated(ctx)
				if err != nil {
					return err
				}
				return f.output.Write(s.Out, o, o.Write)
			})
		},
	}
	f.flags(cmd)
	return cmd
}
