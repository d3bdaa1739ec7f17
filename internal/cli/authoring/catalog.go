package authoring

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
)

// NewCatalog is the command `catalog`.
func NewCatalog(s command.Streams) *cobra.Command {
	return command.Group("catalog", "Write, check, compare and serve file-based catalogs",
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
		command.Group("template", "Make catalogs of short descriptions that name bundle images",
			newCatalogTemplateRenderCommand(s), newCatalogTemplateConvertCommand(s)),
		newCatalogValidateCommand(s),
	)
}

func newCatalogInitCommand(s command.Streams) *cobra.Command {
	var channel, icon, description string
	f := catalogForm{}
	cmd := &cobra.Command{
		Use:     "init PACKAGE",
		Short:   "Write the olm.package object that a package begins with",
		Example: `  fairlead catalog init my-operator --default-channel stable --icon logo.svg --description README.md -o yaml > catalog/my-operator/package.yaml`,
		Args:    command.Usage(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVarP(&channel, "default-channel", "c", "", "channel that is followed unless another one is asked for")
	cmd.Flags().StringVarP(&icon, "icon", "i", "", "file with a picture: SVG, PNG, JPEG or GIF")
	cmd.Flags().StringVarP(&description, "description", "d", "", "file with a description, in Markdown")
	cmd.Flags().StringVarP(&f.output, "output", "o", "json", "how to write the object: json or yaml")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		p, err := scaffold.PackageFromFiles(args[0], channel, description, icon)
		if err != nil {
			return err
		}
		return f.write(s.Out, &catalog.Catalog{Packages: []catalog.Package{p}})
	}
	return cmd
}
