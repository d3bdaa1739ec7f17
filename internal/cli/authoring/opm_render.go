package authoring

import (
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newOpmRenderCommand(s command.Streams, access *accessFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "render [catalog-image | catalog-directory | bundle-image | bundle-directory]...",
		Short: "Write what references hold as a file-based catalog",
		Long:  "Write what catalogs and bundles hold, images or directories, as one file-based catalog on standard output.",
		Args:  command.Usage(cobra.MinimumNArgs(1)),
	}
	var output formatFlag
	var level migrationFlag
	output.add(cmd.Flags())
	level.add(cmd.Flags())
	all := cmd.Flags().Bool("migrate", false, "bring the catalog up to the highest level")
	cmd.MarkFlagsMutuallyExclusive("migrate", "migrate-level")
	imageRef := cmd.Flags().String("alpha-image-ref-template", "", "(ALPHA: may change) image of the bundles of bundle directories: a template with {{.Package}}, {{.Name}} and {{.Version}}")
	if !showOpmAlpha() {
		hideFlag(cmd.Flags(), "alpha-image-ref-template")
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		format, err := output.format()
		if err != nil {
			return err
		}
		r := access.renderer(s.Err, bundleio.Any)
		defer closeNoting(s.Err, r)
		if r.Migrations, err = level.level(); err != nil {
			return err
		}
		if *all {
			r.Migrations = catalog.MigrateAll
		}
		if *imageRef != "" {
			if r.ImageRef, err = bundleio.ParseImageRef(*imageRef); err != nil {
				return command.UsageError{Err: fmt.Errorf("invalid --alpha-image-ref-template: %w", err)}
			}
		}
		c, err := r.Render(cmd.Context(), args...)
		if err != nil {
			return err
		}
		return catalog.Write(s.Out, c, format)
	}
	return cmd
}
