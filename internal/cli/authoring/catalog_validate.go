package authoring

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// catalogVerdict is the result of validate for programs.
type catalogVerdict struct {
	Passed   bool             `json:"passed"`
	Problems catalog.Problems `json:"problems"`
}

func newCatalogValidateCommand(s command.Streams) *cobra.Command {
	var format command.Output
	cmd := &cobra.Command{
		Use: "validate REF",
		Example: `  fairlead catalog validate ./catalog
  fairlead catalog validate registry.example.com/catalog:latest -o json`,
		Short: "Check a catalog against every rule, and say how to mend what is wrong",
		Long: `Check a catalog against every rule. All that is wrong is listed, each with its file, line, rule and remedy.
REF is the directory, a file or the image of a catalog.

Exit code 0: valid, perhaps with warnings. 3: not valid. 1: the catalog cannot be read. 2: wrong usage.`,
		Args: command.Usage(cobra.ExactArgs(1)),
	}
	format.Flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		// List what is wrong with a catalog; its error is for what could not be checked.
		c, err := renderedCatalog(cmd.Context(), s, &bundleio.Renderer{Allowed: bundleio.Catalogs, Load: catalog.LoadOptions{DropPayloads: true}}, args[0])
		var invalid *catalog.InvalidError
		if err != nil && !errors.As(err, &invalid) {
			return fmt.Errorf("validate catalog: %w", err)
		}
		problems := append(catalog.Validate(c), constraint.Review(c)...)
		slices.SortStableFunc(problems, func(a, b catalog.Problem) int {
			return cmp.Or(cmp.Compare(a.Position.File, b.Position.File), cmp.Compare(a.Position.Line, b.Position.Line))
		})
		result := catalogVerdict{Passed: problems.Err() == nil, Problems: problems}
		if err := format.Write(s.Out, result, func(w io.Writer) error {
			dir := args[0]
			for _, problem := range result.Problems {
				if _, err := fmt.Fprintln(w, problem); err != nil {
					return err
				}
			}
			errs := len(result.Problems.Errors())
			text := fmt.Sprintf("%s is not valid: %s, %s", dir, safetext.Count(errs, "error"), safetext.Count(len(result.Problems)-errs, "warning"))
			if result.Passed {
				text = fmt.Sprintf("%s is valid, %s", dir, safetext.Count(len(result.Problems), "warning"))
			}
			_, err := fmt.Fprintln(w, text)
			return err
		}); err != nil {
			return err
		}
		if !result.Passed {
			return command.ExitError{Code: command.ExitNo}
		}
		return nil
	}
	return cmd
}
