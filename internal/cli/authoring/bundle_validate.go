package authoring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/validate"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/version"
)

// categoriesVariable names a file with categories in place of the standard ones.
const categoriesVariable = "OPERATOR_BUNDLE_CATEGORIES"

func newBundleValidateCommand(s command.Streams) *cobra.Command {
	var format command.Output
	var selectors []string
	var values map[string]string
	var list bool
	cmd := &cobra.Command{
		Use:   "validate DIRECTORY|IMAGE",
		Short: "Check a bundle against every rule, and say how to mend what is wrong",
		Long: `Check a bundle: a directory with manifests and metadata, or an image. All that is wrong is listed, each with its file, line, rule and
remedy. What every bundle needs is always checked. Communities of authors ask for more: --list-validators shows the optional
validators, and --select adds some of them, by name or by label.

Some of them take values: k8s-version is the Kubernetes version that the bundle is for, index-path the Dockerfile of its catalog. The file
that $` + categoriesVariable + ` names, {"categories": […]}, takes the place of the standard categories.

Exit code 0: valid, perhaps with warnings. 3: not valid. 1: the bundle cannot be read. 2: wrong usage.`,
		Example: `  fairlead bundle validate ./bundle
  fairlead bundle validate ./bundle --select suite=operatorframework --select good-practices
  fairlead bundle validate quay.io/org/my-bundle:v1.0.0 --select alpha-deprecated-apis --optional-values k8s-version=1.30
  fairlead bundle validate --list-validators`,
		Args: command.Usage(func(cmd *cobra.Command, args []string) error {
			if list {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		}),
	}
	format.Flag(cmd)
	cmd.Flags().StringArrayVar(&selectors, "select", nil, "check this optional validator as well: a name, or labels such as suite=operatorframework (can be repeated)")
	cmd.Flags().StringToStringVar(&values, "optional-values", nil, "values for optional validators: k8s-version=…, index-path=…")
	cmd.Flags().BoolVar(&list, "list-validators", false, "list the validators instead")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		if list {
			all := validate.Validators()
			return format.Write(s.Out, all, func(w io.Writer) error {
				table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
				fmt.Fprintln(table, "NAME\tCHECKED\tSUITE\tDESCRIPTION")
				for _, v := range all {
					when := "always"
					if v.Optional {
						when = "when selected"
					}
					fmt.Fprintln(table, strings.Join([]string{v.Name, when, v.Labels["suite"], v.Description}, "\t"))
				}
				return table.Flush()
			})
		}
		o, err := validateOptions(selectors, values)
		if err != nil {
			return err
		}
		report, err := validateBundle(cmd.Context(), s, args[0], o)
		if err != nil {
			return err
		}
		if err := format.Write(s.Out, report, func(w io.Writer) error { return printReport(w, args[0], report) }); err != nil {
			return err
		}
		if !report.Passed {
			if parent := filepath.Dir(filepath.Clean(args[0])); isBundle(parent) {
				fmt.Fprintf(s.Err, "note: %s is the bundle that it belongs to: fairlead bundle validate %[1]s\n", parent)
			}
			return command.ExitError{Code: command.ExitNo}
		}
		return nil
	}
	return cmd
}

// isBundle reports whether a directory has the two that every bundle has.
func isBundle(dir string) bool {
	for _, name := range []string{"manifests", "metadata"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// validateOptions reads what the flags and the environment say.
func validateOptions(selectors []string, values map[string]string) (validate.Options, error) {
	optional, err := validate.Select(selectors...)
	if err != nil {
		return validate.Options{}, command.UsageError{Err: err}
	}
	o := validate.Options{Optional: optional}
	for key, value := range values {
		switch key {
		case "k8s-version":
			if _, err := version.ParseTolerant(value); err != nil {
				return o, command.UsageError{Err: fmt.Errorf("optional value k8s-version: %w", err)}
			}
			o.KubeVersion = value
		case "index-path":
			if o.IndexFile, err = os.ReadFile(value); err != nil {
				return o, fmt.Errorf("read the Dockerfile of the catalog: %w", err)
			}
		case "container-tools": // images are inspected without a tool
		default:
			return o, command.UsageError{Err: fmt.Errorf("optional value %q: choose k8s-version or index-path", key)}
		}
	}
	if path := os.Getenv(categoriesVariable); path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return o, fmt.Errorf("read the file that %s names: %w", categoriesVariable, err)
		}
		if o.Categories, err = validate.ParseCategories(data); err != nil {
			return o, fmt.Errorf("%s: %w", path, err)
		}
	}
	return o, nil
}

// validateBundle judges the bundle that a reference names.
func validateBundle(ctx context.Context, s command.Streams, ref string, o validate.Options) (report validate.Report, err error) {
	r := &bundleio.Renderer{}
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	source, err := bundleio.Open(ctx, r, ref)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	o.Platforms = platforms{r}
	return validate.Run(ctx, bundle.Inspect(source.FS), o)
}

// platforms asks registries.
type platforms struct{ r *bundleio.Renderer }

func (p platforms) Platforms(ctx context.Context, ref string) ([]validate.Platform, error) {
	store, err := p.r.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	found, err := store.Platforms(ctx, ref, image.Auth{})
	out := make([]validate.Platform, 0, len(found))
	for _, each := range found {
		out = append(out, validate.Platform(each))
	}
	return out, err
}

func printReport(w io.Writer, ref string, report validate.Report) error {
	for _, f := range report.Findings {
		if _, err := fmt.Fprintln(w, f); err != nil {
			return err
		}
	}
	errs := len(report.Errors())
	text := fmt.Sprintf("%s is not valid: %s, %s", ref, safetext.Count(errs, "error"), safetext.Count(len(report.Findings)-errs, "warning"))
	if report.Passed {
		text = fmt.Sprintf("%s is valid, %s", ref, safetext.Count(len(report.Findings), "warning"))
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
