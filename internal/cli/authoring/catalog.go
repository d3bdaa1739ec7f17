package authoring

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
)

// NewCatalog is the command `catalog`.
func NewCatalog(s command.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "catalog",
		Short: "Write, check, compare and serve file-based catalogs",
		Args:  command.Usage(cobra.NoArgs), // an unknown command is an error
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(catalogCommands(s)...)
	return cmd
}

func catalogCommands(s command.Streams) []*cobra.Command {
	return []*cobra.Command{
		newCatalogCheckCommand(s),
		newCatalogDiffCommand(s),
		newCatalogDockerfileCommand(s),
		newCatalogGraphCommand(s),
		newCatalogInitCommand(s),
		newCatalogListCommand(s),
		newCatalogMergeCommand(s),
		newCatalogMigrateCommand(s),
		newCatalogPathCommand(s),
		newCatalogPruneCommand(s),
		newCatalogPushCommand(s),
		newCatalogRenderCommand(s),
		newCatalogServeCommand(s),
		newCatalogTemplateCommand(s),
		newCatalogValidateCommand(s),
	}
}
