package authoring

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/internal/cli/command"
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

// noChannels says that there is nothing to look at, which is not the same as nothing to find.
func noChannels(what, ref string) error {
	return fmt.Errorf("%s %s: it holds no channel, and so no upgrade graph; name a catalog", what, ref)
}
