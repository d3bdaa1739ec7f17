package authoring

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
)

// opmVerdict is what validate prints for programs.
type opmVerdict struct {
	Passed bool             `json:"passed"`
	Error  *opmVerdictError `json:"error,omitempty"`
}

type opmVerdictError struct {
	Message string `json:"message"`
}

func newOpmValidateCommand(s command.Streams) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "validate <directory>",
		Example: `  opm validate catalog`,
		Short:   "Validate the declarative index config",
		Long:    "Validate the file-based catalog in a directory. Nothing is printed when it is valid, unless a format is asked for.",
		Args:    command.Usage(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "print the verdict as json or yaml")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if output != "" && output != "json" && output != "yaml" {
			return command.UsageError{Err: fmt.Errorf("invalid --output value %q, expected (json|yaml)", output)}
		}
		err := judgeCatalog(cmd, args[0])
		if output == "" {
			return err
		}
		if printing := printOpmVerdict(s.Out, output, err); printing != nil {
			return printing
		}
		if err != nil {
			return command.ExitError{Code: command.ExitFailed}
		}
		return nil
	}
	return cmd
}

func judgeCatalog(cmd *cobra.Command, dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("validate %s: %w", dir, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%q is not a directory", dir)
	}
	c, err := catalog.Load(cmd.Context(), os.DirFS(dir), catalog.LoadOptions{DropPayloads: true})
	var invalid *catalog.InvalidError
	if err != nil && !errors.As(err, &invalid) {
		return fmt.Errorf("validate %s: %w", dir, err)
	}
	return catalog.Validate(c).Err()
}

func printOpmVerdict(w io.Writer, format string, err error) error {
	result := opmVerdict{Passed: err == nil}
	if err != nil {
		result.Error = &opmVerdictError{Message: err.Error()}
	}
	text, err := json.MarshalIndent(result, "", "    ")
	if err == nil && format == "yaml" {
		text, err = yaml.JSONToYAML(text)
	}
	if err != nil {
		return fmt.Errorf("encode the verdict: %w", err)
	}
	_, err = fmt.Fprintln(w, strings.TrimSuffix(string(text), "\n"))
	return err
}
