package opmcmd

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

func newAlphaCommand(s command.Streams, access *accessFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "alpha",
		Short:  "Commands that may change",
		Hidden: !showAlpha(),
		Args:   command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:   func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newBundleCommand(s, access),
		newListCommand(s, access),
		newRenderGraphCommand(s, access),
		newRenderTemplateCommand(s, access),
		newConvertTemplateCommand(s, access),
	)
	for _, name := range slices.Sorted(maps.Keys(goneAlpha)) {
		cmd.AddCommand(goneCommand(name, "opm alpha", goneAlpha[name]))
	}
	return cmd
}
