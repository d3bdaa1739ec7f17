package authoring

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// catalogForm is how a catalog is written and how far it is brought up to date.
type catalogForm struct {
	output  string
	level   string
	migrate bool
}

func (f *catalogForm) flags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.output, "output", "o", "json", "how to write the catalog: json or yaml")
	cmd.Flags().StringVar(&f.level, "migrate-level", "", "bring the catalog up to this level: none, bundle-object-to-csv-metadata or all")
	cmd.Flags().BoolVar(&f.migrate, "migrate", false, "bring the catalog up to the last level: bundles get olm.csv.metadata in place of their manifests")
	cmd.MarkFlagsMutuallyExclusive("migrate", "migrate-level")
}

// check refuses formats and levels that do not exist, before anything is read.
func (f *catalogForm) check() error {
	if _, err := f.writer(); err != nil {
		return err
	}
	if _, err := catalog.Migrate(&catalog.Catalog{}, f.migrations()); err != nil {
		return command.UsageError{Err: err}
	}
	return nil
}

func (f *catalogForm) migrations() catalog.MigrationLevel {
	switch {
	case f.migrate:
		return catalog.MigrateAll
	case f.level == "":
		return catalog.MigrateNone
	}
	return catalog.MigrationLevel(f.level)
}

func (f *catalogForm) writer() (func(io.Writer, *catalog.Catalog) error, error) {
	switch f.output {
	case "json":
		return catalog.WriteJSON, nil
	case "yaml":
		return catalog.WriteYAML, nil
	}
	return nil, command.UsageError{Err: fmt.Errorf("output format %q: choose json or yaml", f.output)}
}

func (f *catalogForm) write(w io.Writer, c *catalog.Catalog) error {
	write, err := f.writer()
	if err != nil {
		return err
	}
	return write(w, c)
}

func newCatalogRenderCommand(s command.Streams) *cobra.Command {
	var f catalogForm
	var imageRef string
	cmd := &cobra.Command{
		Use:   "render REF...",
		Short: "Write what directories and images of catalogs and bundles hold, as one catalog",
		Long: `Write what references hold, as one catalog in canonical order. A reference is the directory or the file of a catalog, the image of
a catalog, the directory or the image of a bundle, or a directory in the older package-manifest layout. An image begins with the host
of its registry.

A bundle is written with its manifests; --migrate writes the metadata that clusters need in their place, which is many times
smaller. How bundles upgrade from each other is no part of them: see fairlead catalog template.

What is read and not written again, such as fields that do not exist, is told on standard error.

Exit code 0: written. 1: something cannot be read. 2: wrong usage.`,
		Example: `  fairlead catalog render ./catalog -o yaml
  fairlead catalog render quay.io/org/my-bundle:v1.0.0 --migrate >> catalog/my-operator/catalog.json
  fairlead catalog render ./bundle --image-ref-template 'quay.io/org/{{.Package}}-bundle:v{{.Version}}'`,
		Args: command.Usage(cobra.MinimumNArgs(1)),
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&imageRef, "image-ref-template", "", "image of the bundles in bundle directories, made of {{.Package}}, {{.Name}} and {{.Version}}")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		r := &bundleio.Renderer{Migrations: f.migrations()}
		if imageRef != "" {
			var err error
			if r.ImageRef, err = bundleio.ParseImageRef(imageRef); err != nil {
				return command.UsageError{Err: err}
			}
		}
		c, err := renderedCatalog(cmd.Context(), s, r, args...)
		if err != nil {
			return err
		}
		for _, problem := range c.LoadProblems { // what is not written again, such as misspelt fields
			fmt.Fprintln(s.Err, problem)
		}
		return f.write(s.Out, c)
	}
	return cmd
}
