package authoring

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/catalog/listing"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newCatalogGraphCommand(s command.Streams) *cobra.Command {
	var format string
	var opts graph.DrawOptions
	cmd := &cobra.Command{
		Use:   "graph REF",
		Short: "Draw the upgrade graphs of a catalog",
		Long: `Draw the upgrade graphs of a catalog, sound or not: as text for the terminal, as mermaid, as DOT for Graphviz, as SVG, or as JSON
or YAML for programs.`,
		Example: `  fairlead catalog graph ./catalog --package etcd
  fairlead catalog graph ./catalog -p etcd -o svg > etcd.svg
  fairlead catalog graph ./catalog -p etcd -o dot | dot -Tpdf > etcd.pdf
  fairlead catalog graph ./catalog --minimum-edge etcdoperator.v0.9.2 --draw-v0-semantics -o mermaid`,
		Args: command.Usage(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVarP(&format, "output", "o", string(graph.Text), "how to draw: text, mermaid, dot, svg, json or yaml")
	cmd.Flags().StringVarP(&opts.Package, "package", "p", "", "draw only this package")
	cmd.Flags().StringVar(&opts.MinimumEdge, "minimum-edge", "", "draw only the package of this bundle, from its version on")
	cmd.Flags().BoolVar(&opts.V0, "draw-v0-semantics", false, "mark the edges that v0 does not count because they lead to skipped entries")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch format {
		case string(command.OutputJSON), string(command.OutputYAML), string(graph.Text), string(graph.Mermaid), string(graph.DOT), string(graph.SVG):
		default:
			return command.UsageError{Err: fmt.Errorf("output format %q: choose text, mermaid, dot, svg, json or yaml", format)}
		}
		c, whole, err := loadReadable(cmd.Context(), s, args[0])
		if err != nil {
			return err
		}
		if len(graph.Packages(c)) == 0 && whole {
			return noChannels("draw", args[0])
		}
		picture, err := graph.NewPicture(c, opts)
		if err != nil {
			return err
		}
		return command.Output(format).Write(s.Out, picture, func(w io.Writer) error { return picture.Draw(w, graph.Format(format)) })
	}
	return cmd
}

// noChannels says that there is nothing to check, which is not the same as nothing to find.
func noChannels(what, ref string) error {
	return fmt.Errorf("%s %s: it holds no channel, and so no upgrade graph; name a catalog", what, ref)
}

func newCatalogListCommand(s command.Streams) *cobra.Command {
	cmd := command.Group("list", "List the packages, channels or bundles of a catalog",
		catalogListCommand(s, "packages REF", "List packages with their display names and default channels", cobra.ExactArgs(1),
			func(x *catalog.Index, _ string) ([]listing.Package, error) { return listing.Packages(x) }, listing.PackageTable),
		catalogListCommand(s, "channels REF [PACKAGE]", "List channels with their heads", cobra.RangeArgs(1, 2), listing.Channels, listing.ChannelTable),
		catalogListCommand(s, "bundles REF [PACKAGE]", "List the bundles of each channel with what they upgrade from", cobra.RangeArgs(1, 2), listing.Bundles, listing.BundleTable),
	)
	cmd.Long = `List the packages, channels or bundles of a catalog: those that a cluster would be served. What is broken is told on standard
error, and does not hide the rest.`
	return cmd
}

// catalogListCommand makes one of the commands, which differ in their rows alone.
func catalogListCommand[T any](s command.Streams, use, short string, args cobra.PositionalArgs, list func(*catalog.Index, string) ([]T, error), table func(io.Writer, []T) error) *cobra.Command {
	var format command.Output
	what, _, _ := strings.Cut(use, " ")
	cmd := &cobra.Command{Use: use, Short: short, Args: command.Usage(args), Example: "  fairlead catalog list " + what + " ./catalog"}
	format.Flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		c, _, err := readableCatalog(cmd.Context(), s, &bundleio.Renderer{}, args[0])
		if err != nil {
			return err
		}
		x, err := catalog.NewIndex(c, "")
		if err != nil {
			return err
		}
		if n := len(x.Problems().Errors()); n > 0 {
			fmt.Fprintf(s.Err, "warning: %s in %s: what is broken may be missing here; fairlead catalog validate lists it\n", safetext.Count(n, "error"), args[0])
		}
		only := ""
		if len(args) > 1 {
			only = args[1]
		}
		rows, err := list(x, only)
		if err != nil {
			return fmt.Errorf("list %s: %w", args[0], err)
		}
		return format.Write(s.Out, rows, func(w io.Writer) error { return table(w, rows) })
	}
	return cmd
}
