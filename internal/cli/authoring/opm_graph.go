package authoring

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

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
