package authoring

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

func newOpmAlphaCommand(s command.Streams, access *accessFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "alpha",
		Short:  "Commands that may change",
		Hidden: !showOpmAlpha(),
		Args:   command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:   func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newOpmBundleCommand(s, access),
		newOpmListCommand(s, access),
		newOpmRenderGraphCommand(s, access),
		newOpmRenderTemplateCommand(s, access),
		newOpmConvertTemplateCommand(s, access),
	)
	for _, name := range slices.Sorted(maps.Keys(goneAlpha)) {
		cmd.AddCommand(goneCommand(name, "opm alpha", goneAlpha[name]))
	}
	return cmd
}
