package authoring

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/catalog/template"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// outputMermaid is a format of render-template only.
const outputMermaid = "mermaid"

func newOpmRenderTemplateCommand(s command.Streams, access *accessFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "render-template [TYPE] [FILE]",
		Short: "Make a catalog out of a template",
		Long: `Make a catalog out of a template: of type basic, semver or substitutes, or of the type that its schema says.
Without FILE, or with -, the template is read from standard input.`,
		Args: command.Usage(cobra.MaximumNArgs(2)),
	}
	var output string
	var level migrationFlag
	cmd.Flags().StringVarP(&output, "output", "o", string(catalog.JSON), "format of what is written: json, yaml or mermaid")
	level.add(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if output != string(catalog.JSON) && output != string(catalog.YAML) && output != outputMermaid {
			return command.UsageError{Err: fmt.Errorf("invalid --output value %q, expected (json|yaml|mermaid)", output)}
		}
		migrations, err := level.level()
		if err != nil {
			return err
		}
		r := access.renderer(s.Err, bundleio.Images)
		defer closeNoting(s.Err, r)
		r.Migrations = migrations
		c, err := renderTemplate(cmd.Context(), s, args, r)
		if err != nil {
			return err
		}
		if output != outputMermaid {
			return catalog.Write(s.Out, c, catalog.Format(output))
		}
		picture, err := graph.NewPicture(c, graph.DrawOptions{V0: true})
		if err != nil {
			return err
		}
		return picture.Draw(s.Out, graph.Mermaid)
	}
	return cmd
}

// renderTemplate reads the template that the arguments name: nothing, a type, a file, or both.
func renderTemplate(ctx context.Context, s command.Streams, args []string, r *bundleio.Renderer) (*catalog.Catalog, error) {
	kind, file, err := template.Arguments(args)
	if err != nil {
		return nil, command.UsageError{Err: err}
	}
	content, err := s.Open(file)
	if err != nil {
		return nil, fmt.Errorf("render template: %w", err)
	}
	defer content.Close()
	c, err := template.Render(ctx, content, template.Options{Type: kind, File: file, Bundles: r.Bundle})
	if err != nil {
		return nil, err
	}
	return catalog.Migrate(c, r.Migrations) // what the template itself holds
}

func newOpmConvertCommand(s command.Streams, kind template.Type) *cobra.Command {
	cmd := &cobra.Command{
		Use:   string(kind) + " [<fbc-file> | -]",
		Short: "Make a " + string(kind) + " template out of a catalog",
		Args:  command.Usage(cobra.MaximumNArgs(1)),
	}
	var output formatFlag
	output.add(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		format, err := output.format()
		if err != nil {
			return err
		}
		file := "-"
		if len(args) == 1 {
			file = args[0]
		}
		content, err := s.Open(file)
		if err != nil {
			return fmt.Errorf("convert catalog: %w", err)
		}
		defer content.Close()
		c, err := catalog.LoadFile(cmd.Context(), file, content, catalog.LoadOptions{})
		if err != nil {
			return fmt.Errorf("convert catalog: %w", err)
		}
		return template.Convert(s.Out, c, kind, template.Format(format))
	}
	return cmd
}
