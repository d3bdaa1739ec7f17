package bundlecmd

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

// New is the command `bundle`.
func New(s command.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Generate, check, build and unpack operator bundles",
		Args:  command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands(s)...)
	return cmd
}

func commands(s command.Streams) []*cobra.Command {
	return []*cobra.Command{
		newBuildCommand(s),
		newExtractCommand(s),
		newGenerateCommand(s),
		newPushCommand(s),
		newRenderCommand(s),
		newUnpackCommand(s),
		newValidateCommand(s),
	}
}
