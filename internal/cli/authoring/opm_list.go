package authoring

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/catalog/listing"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newOpmListCommand(s command.Streams, access *accessFlags) *cobra.Command {
	return command.Group("list", "List the contents of a catalog",
		opmListCommand(s, access, "packages <catalog>", "List packages", cobra.ExactArgs(1),
			func(x *catalog.Index, _ string) ([]listing.Package, error) { return listing.Packages(x) }, listing.PackageTable),
		opmListCommand(s, access, "channels <catalog> [package]", "List channels", cobra.RangeArgs(1, 2), listing.Channels, listing.ChannelTable),
		opmListCommand(s, access, "bundles <catalog> [package]", "List bundles", cobra.RangeArgs(1, 2), listing.Bundles, listing.BundleTable),
	)
}

// opmListCommand makes one of the commands, which differ in their rows alone.
func opmListCommand[T any](s command.Streams, access *accessFlags, use, short string, args cobra.PositionalArgs,
	list func(*catalog.Index, string) ([]T, error), table func(io.Writer, []T) error) *cobra.Command {
	what, _, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{Use: use, Short: short, Args: command.Usage(args), Example: "  opm alpha list " + what + " catalog"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r := access.renderer(s.Err, bundleio.Catalogs)
		defer closeNoting(s.Err, r)
		c, err := r.Render(cmd.Context(), args[0])
		if c == nil {
			return err
		}
		x, err := catalog.NewIndex(c, "")
		if err != nil {
			return err
		}
		defer closeNoting(s.Err, x)
		if problems := x.Problems().Err(); problems != nil {
			fmt.Fprintf(s.Err, "warning: what is broken may be missing here: %v\n", problems)
		}
		only := ""
		if len(args) > 1 {
			only = args[1]
		}
		rows, err := list(x, only)
		if err != nil {
			return fmt.Errorf("list %s: %w", args[0], err)
		}
		return table(s.Out, rows)
	}
	return cmd
}

func newOpmRenderGraphCommand(s command.Streams, access *accessFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "render-graph [index-image | fbc-dir]...",
		Short: "Draw upgrade graphs as mermaid",
		Args:  command.Usage(cobra.MinimumNArgs(1)),
	}
	var opts graph.DrawOptions
	cmd.Flags().StringVar(&opts.MinimumEdge, "minimum-edge", "", "draw only the package of this bundle, from its version on")
	cmd.Flags().StringVarP(&opts.Package, "package-name", "p", "", "draw only this package")
	cmd.Flags().BoolVar(&opts.V0, "draw-v0-semantics", false, "mark the edges that do not count because they lead to skipped entries")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r := access.renderer(s.Err, bundleio.Catalogs)
		defer closeNoting(s.Err, r)
		c, err := r.Render(cmd.Context(), args...)
		if err != nil {
			return err
		}
		picture, err := graph.NewPicture(c, opts)
		if err != nil {
			return err
		}
		return picture.Draw(s.Out, graph.Mermaid)
	}
	return cmd
}
