package authoring

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/template"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newCatalogTemplateRenderCommand(s command.Streams) *cobra.Command {
	var f catalogForm
	cmd := &cobra.Command{
		Use:   "render [basic|semver|substitutes] [FILE]",
		Short: "Write the catalog that a template describes",
		Long: `Write the catalog that a template describes. Without a FILE, or with -, the template is read from standard input; without a type
its schema decides:

  olm.template.basic        a catalog whose bundles are named by their images alone
  olm.semver                bundle images by grade of stability; their versions decide about channels and upgrades
  olm.template.substitutes  a catalog, and bundles that take the places of others in it

The bundles are read from their images. What is wrong with the result is told on standard error.

Exit code 0: written. 1: the template or an image cannot be read. 2: wrong usage.`,
		Example: `  fairlead catalog template render template.yaml -o yaml > catalog/my-operator/catalog.yaml
  fairlead catalog template render semver - < semver.yaml

  # a semver template
  schema: olm.semver
  generateMajorChannels: true
  stable:
    bundles:
    - image: quay.io/org/my-bundle:v1.0.0
    - image: quay.io/org/my-bundle:v1.1.0`,
		Args: command.Usage(cobra.MaximumNArgs(2)),
	}
	f.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		kind, file, err := template.Arguments(args)
		if err != nil {
			return command.UsageError{Err: err}
		}
		level := f.migrations()
		c, err := fillTemplate(cmd, s, &bundleio.Renderer{Migrations: level}, template.Options{Type: kind}, file)
		if err != nil {
			return err
		}
		if c, err = catalog.Migrate(c, level); err != nil { // what the template itself holds
			return err
		}
		for _, problem := range catalog.Validate(c) {
			fmt.Fprintln(s.Err, problem)
		}
		return f.write(s.Out, c)
	}
	return cmd
}

// fillTemplate renders a template with a renderer that is not needed any more afterwards.
func fillTemplate(cmd *cobra.Command, s command.Streams, r *bundleio.Renderer, o template.Options, file string) (c *catalog.Catalog, err error) {
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	o.File, o.Bundles = file, r.Bundle
	if file == "-" {
		o.File = "standard input"
	}
	in, err := s.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read template: %w; give one of the types %v, or a file", err, template.Types())
	}
	defer in.Close()
	return template.Render(cmd.Context(), in, o)
}

func newCatalogTemplateConvertCommand(s command.Streams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "convert basic|substitutes [REF]",
		Short: "Write a template that renders to a catalog",
		Long: `Write a template that renders to a catalog. In a basic template bundles are reduced to their images; a substitutes template
holds the catalog as it is, with room for substitutions. Without a REF, or with -, a catalog is read from standard input.`,
		Example: `  fairlead catalog template convert basic ./catalog -o yaml > template.yaml`,
		Args:    command.Usage(cobra.RangeArgs(1, 2)),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "json", "how to write the template: json or yaml")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		to, err := template.ParseType(args[0])
		if err == nil && to == template.Semver {
			err = errors.New("a catalog cannot become a semver template; choose basic or substitutes")
		}
		if err == nil && output != string(template.JSON) && output != string(template.YAML) {
			err = fmt.Errorf("output format %q: choose json or yaml", output)
		}
		if err != nil {
			return command.UsageError{Err: err}
		}
		var c *catalog.Catalog
		if len(args) == 2 && args[1] != "-" {
			c, err = renderedCatalog(cmd.Context(), s, &bundleio.Renderer{}, args[1])
		} else {
			c, err = catalog.LoadFile(cmd.Context(), "standard input", s.In, catalog.LoadOptions{})
		}
		if err != nil {
			return err
		}
		return template.Convert(s.Out, c, to, template.Format(output))
	}
	return cmd
}
