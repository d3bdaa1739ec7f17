package authoring

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog/prune"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

type pruneFlags struct {
	to          catalogDestination
	fleet       fleet
	packages    []string
	defaults    []string
	headsOnly   bool
	withoutDeps bool
	images      string
	report      string
}

func newCatalogPruneCommand(s command.Streams) *cobra.Command {
	var f pruneFlags
	cmd := &cobra.Command{
		Use:   "prune REF",
		Short: "Cut a catalog down to some packages, channels and versions, without breaking upgrades",
		Long: `Cut a catalog down to what a mirror or a cluster needs. What is chosen is completed rather than cut through:

  - of each channel a part of the replaces chain without a gap is kept, so that every kept version has a way to the kept head, and
    the channel has one head; skipped versions are kept with what skips them;
  - what is installed is kept (--installed), with its way to the kept heads, through other channels if need be;
  - what kept bundles require of other packages is kept, from those that are kept anyway if they have it, or else from the first by name;
  - the default channel of a package is kept, or another one becomes the default (--default-channel).

No edge is rewritten, and the result is always valid. Packages that break rules are refused, but do not matter beside others.

--package takes package, package/channel,channel, package=RANGE or package/channel=RANGE, with ranges as in skipRange.

-o says what goes to standard output: the catalog as json or yaml, the images that a mirror needs (one in a line), or the report of
what was kept and why, as text or JSON. Notes and a summary go to the error stream.

Exit code 0: written. 1: what was asked for does not exist, or something cannot be read or written. 2: wrong usage.`,
		Example: `  # two packages, one of them from 3.9 on
  fairlead catalog prune quay.io/operatorhubio/catalog:latest -p prometheus -p 'argocd-operator=>=0.9.0' -d ./mirror --images images.txt

  # the newest of each channel, and what our clusters need to get there
  fairlead catalog prune ./catalog -p etcd/alpha --heads-only --installed etcd=0.9.2 -o yaml

  # why is this in my mirror?
  fairlead catalog prune ./catalog -p etcd -o report`,
		Args: command.Usage(cobra.ExactArgs(1)),
	}
	f.to.flags(cmd)
	cmd.Flags().Lookup("output").Usage = "what to print: the catalog as json or yaml, images, report or report-json"
	cmd.Flags().StringArrayVarP(&f.packages, "package", "p", nil, "keep this package: package[/channel,...][=RANGE]")
	f.fleet.flags(cmd, "keep an installed version and its way on")
	cmd.Flags().StringArrayVar(&f.defaults, "default-channel", nil, "make a channel the default one, as package=channel")
	cmd.Flags().BoolVar(&f.headsOnly, "heads-only", false, "of the chosen packages, keep only the newest chosen version of each channel")
	cmd.Flags().BoolVar(&f.withoutDeps, "without-dependencies", false, "leave out what kept bundles require")
	cmd.Flags().StringVar(&f.images, "images", "", "also write the images that a mirror needs to this file, one in a line")
	cmd.Flags().StringVar(&f.report, "report", "", "also write the report to this file, as JSON if its name ends in .json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return f.run(cmd, s, args[0]) }
	return cmd
}

func (f *pruneFlags) run(cmd *cobra.Command, s command.Streams, ref string) error {
	show, err := f.show()
	if err != nil {
		return err
	}
	opts, err := f.options(s)
	if err != nil {
		return err
	}
	c, err := renderedCatalog(cmd.Context(), s, &bundleio.Renderer{Allowed: bundleio.Catalogs, Migrations: f.to.migrations()}, ref)
	if err != nil {
		return err
	}
	pruned, report, err := prune.Prune(c, opts)
	if err != nil {
		return err
	}
	if show == nil || f.to.output == "images" { // a report holds them
		for _, note := range report.Notes {
			fmt.Fprintln(s.Err, "note: "+note)
		}
	}
	fmt.Fprintf(s.Err, "kept %d of %d packages, %d of %d bundles; %d images\n",
		len(pruned.Packages), len(c.Packages), len(pruned.Bundles), len(c.Bundles), len(report.Images))
	if err := writeFile(f.images, report.WriteImages); err != nil {
		return err
	}
	writeReport := report.Write
	if strings.HasSuffix(f.report, ".json") {
		writeReport = func(w io.Writer) error { return writeJSON(w, report) }
	}
	if err := writeFile(f.report, writeReport); err != nil {
		return err
	}
	if show != nil {
		return show(s.Out, report)
	}
	return f.to.write(cmd.Context(), s, pruned)
}
