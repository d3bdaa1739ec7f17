package authoring

import (
	"context"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
)

// catalogDestination is where a catalog goes that was made of others, and in which form.
type catalogDestination struct {
	catalogForm
	directory string
}

func (d *catalogDestination) flags(cmd *cobra.Command) {
	d.catalogForm.flags(cmd)
	cmd.Flags().StringVarP(&d.directory, "directory", "d", "", "write the catalog to this directory, one directory a package, instead of to standard output; it must be empty or missing")
}

func (d *catalogDestination) write(ctx context.Context, s command.Streams, c *catalog.Catalog) error {
	if d.directory == "" {
		return d.catalogForm.write(s.Out, c)
	}
	return catalog.WriteDirectory(ctx, d.directory, c, catalog.Format(d.output))
}
