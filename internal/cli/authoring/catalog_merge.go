package authoring

import (
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/merge"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newCatalogMergeCommand(s command.Streams) *cobra.Command {
	var to catalogDestination
	var prefer string
	var unchecked bool
	cmd := &cobra.Command{
		Use:   "merge REF...",
		Short: "Make one catalog of several",
		Long: `Make one catalog of several catalogs and bundles, and write it in canonical order. What is the same in more than one place counts
once. Where two places say different things about a package, a channel, a bundle or deprecations, that is an error that names both;
with --prefer the whole package is taken from the first, or the last, of the catalogs that have it. What was left out is told on the
error stream.

The result must keep the rules of catalogs; --unchecked writes it in any case.

Exit code 0: written. 1: the catalogs disagree, cannot be read, or the result breaks rules. 2: wrong usage.`,
		Example: `  fairlead catalog merge ./team-a ./team-b -d ./catalog -o yaml

  # everything public, but our own build of what we have ourselves
  fairlead catalog merge quay.io/operatorhubio/catalog:latest ./ours --prefer last > catalog.json`,
		Args: command.Usage(cobra.MinimumNArgs(1)),
	}
	to.flags(cmd)
	cmd.Flags().StringVar(&prefer, "prefer", "", "first or last: from which catalog a package is taken that they disagree about")
	cmd.Flags().BoolVar(&unchecked, "unchecked", false, "write the result even if it breaks rules")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := to.check(); err != nil {
			return err
		}
		switch merge.Prefer(prefer) {
		case merge.PreferNone, merge.PreferFirst, merge.PreferLast:
		default:
			return command.UsageError{Err: fmt.Errorf("--prefer %q: choose %s or %s", prefer, merge.PreferFirst, merge.PreferLast)}
		}
		var sources []merge.Source
		for _, ref := range args {
			c, err := renderedCatalog(cmd.Context(), s, &bundleio.Renderer{Migrations: to.migrations()}, ref)
			if err != nil {
				return err
			}
			sources = append(sources, merge.Source{Name: ref, Catalog: c})
		}
		merged, report, err := merge.Merge(sources, merge.Options{Prefer: merge.Prefer(prefer)})
		if err != nil {
			return err
		}
		if err := report.Write(s.Err); err != nil {
			return fmt.Errorf("report what was left out: %w", err)
		}
		if err := catalog.Validate(merged).Err(); err != nil && !unchecked {
			return fmt.Errorf("the merged catalog breaks rules and was not written; --unchecked writes it in any case: %w", err)
		}
		return to.write(cmd.Context(), s, merged)
	}
	return cmd
}
