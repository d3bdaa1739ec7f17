package authoring

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/listing"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

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
	cmd := &cobra.Command{Use: use, Short: short, Args: command.Usage(args)}
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
			fmt.Fprintf(s.Err, "warning: %s in %s: what is broken may be missing here; fairlead catalog validate lists it\n", command.Count(n, "error"), args[0])
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
