package authoring

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

// NewBundle is the command `bundle`.
func NewBundle(s command.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "Generate, check, build and unpack operator bundles",
		Args:  command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(bundleCommands(s)...)
	return cmd
}

func bundleCommands(s command.Streams) []*cobra.Command {
	return []*cobra.Command{
		newBundleBuildCommand(s),
		newBundleExtractCommand(s),
		newBundleGenerateCommand(s),
		newBundlePushCommand(s),
		newBundleRenderCommand(s),
		newBundleUnpackCommand(s),
		newBundleValidateCommand(s),
	}
}
