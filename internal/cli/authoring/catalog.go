package authoring

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
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
		newCatalogAddBundleCommand(s),
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

// renderedCatalog reads the catalogs and bundles that a command was given: directories, files or images. As with catalog.Load, an
// *catalog.InvalidError comes with all that could be read. The renderer is not needed any more afterwards.
func renderedCatalog(ctx context.Context, s command.Streams, r *bundleio.Renderer, refs ...string) (c *catalog.Catalog, err error) {
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	return r.Render(ctx, refs...)
}

// loadReadable reads what can be read of a catalog, and says on the error stream what cannot. Graphs are checked when something
// is wrong, so that is no reason to refuse. whole is false when something was left out. Manifests are not kept.
func loadReadable(ctx context.Context, s command.Streams, ref string) (c *catalog.Catalog, whole bool, err error) {
	return readableCatalog(ctx, s, &bundleio.Renderer{Load: catalog.LoadOptions{DropPayloads: true}}, ref)
}

// readableCatalog is loadReadable, with manifests if the renderer reads them.
func readableCatalog(ctx context.Context, s command.Streams, r *bundleio.Renderer, ref string) (c *catalog.Catalog, whole bool, err error) {
	c, err = renderedCatalog(ctx, s, r, ref)
	var invalid *catalog.InvalidError
	if errors.As(err, &invalid) && c != nil {
		fmt.Fprintf(s.Err, "%v\nthe rest of the catalog is checked without it\n", err)
		return c, false, nil
	}
	return c, err == nil, err
}

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
