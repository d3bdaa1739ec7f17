package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"

	"fairlead.dev/fairlead/internal/devcluster"
)

func newClusterLogsCommand(s command.Streams, which *clusterFlags) *cobra.Command {
	names := devcluster.LogNames()
	cmd := &cobra.Command{
		Use:       "logs [COMPONENT]",
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
