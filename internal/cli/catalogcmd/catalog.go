package catalogcmd

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

// New is the command `catalog`.
func New(s command.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Write, check, compare and serve file-based catalogs",
		Args:  command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands(s)...)
	return cmd
}

func commands(s command.Streams) []*cobra.Command {
	return []*cobra.Command{
		newCheckCommand(s),
		newDiffCommand(s),
		newDockerfileCommand(s),
		newGraphCommand(s),
		newInitCommand(s),
		newListCommand(s),
		newMergeCommand(s),
		newMigrateCommand(s),
		newPathCommand(s),
		newPruneCommand(s),
		newPushCommand(s),
		newRenderCommand(s),
		newServeCommand(s),
		newTemplateCommand(s),
		newValidateCommand(s),
	}
}
