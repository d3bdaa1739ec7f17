package authoring

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newOpmMigrateCommand(s command.Streams, access *accessFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate <catalogRef> <outputDir>",
		Short: "Write a catalog as a directory of packages",
		Long:  "Write a catalog, image or directory, to an empty or missing directory, with one directory a package.",
		Args:  command.Usage(cobra.ExactArgs(2)),
	}
	var output formatFlag
	var level migrationFlag
	output.add(cmd.Flags())
	level.add(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		format, err := output.format()
		if err != nil {
			return err
		}
		r := access.renderer(s.Err, bundleio.Catalogs)
		defer closeNoting(s.Err, r)
		if r.Migrations, err = level.level(); err != nil {
			return err
		}
		c, err := r.Render(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		return catalog.WriteDirectory(cmd.Context(), args[1], c, format)
	}
	return cmd
}
