package authoring

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog/diff"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newCatalogDiffCommand(s command.Streams) *cobra.Command {
	var format command.Output
	var exitCode, ifBreaking bool
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Tell how a catalog differs from another, and what that means for clusters",
		Long: `Tell what was added (+), removed (-) and changed (~) between two catalogs: packages, channels, their entries and upgrade edges,
bundles, deprecations and other objects. Order and layout do not count. Below the changes of a package it is said what they mean for
clusters that use it; what takes something away from them is marked BREAKING: a channel that is gone, an installed version that is
no longer upgraded, a head that steps back.

Exit code 0: compared. 3: with --exit-code, there are differences; with --fail-if-breaking, some are breaking. 1: something cannot
be read. 2: wrong usage.`,
		Example: `  # may this catalog be published?
  fairlead catalog diff quay.io/org/catalog:latest ./catalog --fail-if-breaking

  # the channels whose heads change
  fairlead catalog diff ./old ./new -o json | jq '.packages[].consequences[]?'`,
		Args: command.Usage(cobra.ExactArgs(2)),
	}
	format.Flag(cmd)
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "end with exit code 3 if there are differences")
	cmd.Flags().BoolVar(&ifBreaking, "fail-if-breaking", false, "end with exit code 3 if a difference is breaking")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		old, err := renderedCatalog(cmd.Context(), s, &bundleio.Renderer{}, args[0])
		if err != nil {
			return err
		}
		now, err := renderedCatalog(cmd.Context(), s, &bundleio.Renderer{}, args[1])
		if err != nil {
			return err
		}
		report, err := diff.Compare(old, now)
		if err != nil {
			return err
		}
		if err := format.Write(s.Out, report, report.Write); err != nil {
			return err
		}
		if exitCode && !report.Empty() || ifBreaking && report.Breaking() > 0 {
			return command.ExitError{Code: command.ExitNo}
		}
		return nil
	}
	return cmd
}
