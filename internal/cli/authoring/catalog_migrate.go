package authoring

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newCatalogMigrateCommand(s command.Streams) *cobra.Command {
	var to catalogDestination
	cmd := &cobra.Command{
		Use:   "migrate REF DIRECTORY",
		Short: "Write a catalog as a directory for each package, brought up to date if you like",
		Long: `Write a catalog to <DIRECTORY>/<package>/catalog.<json|yaml>, so that each directory is a catalog of its own that can be
maintained by itself. What belongs to no package is written to <DIRECTORY>/catalog.<json|yaml>. DIRECTORY must be empty or missing;
it never looks like a catalog before all of it is written.

--migrate-level bundle-object-to-csv-metadata puts the metadata that clusters need in the place of the manifests of each bundle
that has an image. The catalog becomes many times smaller; who installs a bundle reads its manifests from the image, as usual.

Exit code 0: written. 1: something cannot be read or written. 2: wrong usage.`,
		Example: `  fairlead catalog migrate quay.io/org/catalog:latest ./catalog
  fairlead catalog migrate ./old ./new -o yaml --migrate-level bundle-object-to-csv-metadata`,
		Args: command.Usage(cobra.ExactArgs(2)),
	}
	to.catalogForm.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := to.check(); err != nil {
			return err
		}
		to.directory = args[1]
		c, err := renderedCatalog(cmd.Context(), s, &bundleio.Renderer{Allowed: bundleio.Catalogs, Migrations: to.migrations()}, args[0])
		if err != nil {
			return err
		}
		return to.write(cmd.Context(), s, c)
	}
	return cmd
}
