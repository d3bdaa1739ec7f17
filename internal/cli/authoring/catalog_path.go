package authoring

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog/graph"
	"fairlead.dev/fairlead/internal/cli/command"
)

func newCatalogPathCommand(s command.Streams) *cobra.Command {
	var format command.Output
	var q graph.Query
	cmd := &cobra.Command{
		Use:   "path REF FROM [TO]",
		Short: "Show each upgrade on the way from one version of a package to another",
		Long: `Show each upgrade on the way from one version of a package to another, and the edge that makes it, for both APIs. FROM and TO
are versions or names of bundles; FROM need not be in the catalog any more. Without TO the way continues as far as it can.

v0: of the entries on the replaces chain of the channel that replace or skip what is installed, or have it in their skipRange, a
Subscription takes the one nearest to the head. Skipped entries and their edges do not count.
v1: of all entries of the channels that do so, a ClusterExtension takes the highest version, deprecated ones last, and stays when
that is not newer. When TO is not on that way but can be reached, the stops to set spec.version to are listed.

Without --channel all channels of the package are followed; v0 then tries the default channel first.

Exit code 0: both APIs come there. 3: at least one does not; it is said where it ends, and what would have to be added.
1: there is no such package or version. 2: wrong usage.`,
		Example: `  fairlead catalog path ./catalog 0.9.2 --package etcd
  fairlead catalog path ./catalog etcdoperator.v0.9.2 0.9.4 --package etcd --channel alpha -o json`,
		Args: command.Usage(cobra.RangeArgs(2, 3)),
	}
	format.Flag(cmd)
	cmd.Flags().StringVarP(&q.Package, "package", "p", "", "the package; needed if the catalog has more than one")
	cmd.Flags().StringVarP(&q.Channel, "channel", "c", "", "the channel that is followed; all of them without it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		c, _, err := loadReadable(cmd.Context(), s, args[0])
		if err != nil {
			return err
		}
		if q.From = args[1]; len(args) > 2 {
			q.To = args[2]
		}
		if len(graph.Packages(c)) == 0 {
			return noChannels("find a way in", args[0])
		}
		if names := graph.Packages(c); q.Package == "" && len(names) == 1 {
			q.Package = names[0]
		} else if q.Package == "" {
			return command.UsageError{Err: fmt.Errorf("catalog %s has %d packages: choose one with --package", args[0], len(names))}
		}
		journey, err := graph.Path(c, q)
		if err != nil {
			return err
		}
		if err := format.Write(s.Out, journey, func(w io.Writer) error {
			var b strings.Builder
			fmt.Fprintf(&b, "package %s, ", journey.Package)
			if journey.Channel == "" {
				fmt.Fprint(&b, "all channels")
			} else {
				fmt.Fprintf(&b, "channel %s", journey.Channel)
			}
			fmt.Fprintf(&b, ": from %s to %s\n", journey.From, journey.To)
			printRoute(&b, "v0", journey.V0)
			printRoute(&b, "v1", journey.V1)
			_, err := io.WriteString(w, b.String())
			return err
		}); err != nil {
			return err
		}
		if !journey.V0.Reached || !journey.V1.Reached {
			return command.ExitError{Code: command.ExitNo}
		}
		return nil
	}
	return cmd
}

func printRoute(b *strings.Builder, name string, r graph.Route) {
	switch hops := fmt.Sprintf("%d upgrades", len(r.Hops)); {
	case len(r.Hops) == 0 && r.Reached:
		fmt.Fprintf(b, "\n%s: it is there already\n", name)
	case len(r.Hops) == 0:
		fmt.Fprintf(b, "\n%s: no way\n", name)
	case len(r.Hops) == 1 && r.Reached:
		fmt.Fprintf(b, "\n%s: 1 upgrade\n", name)
	case r.Reached:
		fmt.Fprintf(b, "\n%s: %s\n", name, hops)
	default:
		fmt.Fprintf(b, "\n%s: does not come there\n", name)
	}
	printHops(b, r.Hops)
	if r.Reason != "" {
		fmt.Fprintf(b, "  why: %s\n", r.Reason)
	}
	if r.Remedy != "" {
		fmt.Fprintf(b, "  what to do: %s\n", r.Remedy)
	}
	if len(r.Pinned) > 0 {
		fmt.Fprintf(b, "  pinned:\n")
		printHops(b, r.Pinned)
	}
}

func printHops(b *strings.Builder, hops []graph.Hop) {
	for _, h := range hops {
		edges := make([]string, len(h.Edges))
		for i, e := range h.Edges {
			edges[i] = e.String()
		}
		fmt.Fprintf(b, "  %s -> %s  (%s)\n", h.From, h.To, strings.Join(edges, "; "))
	}
}
