package authoring

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/validate"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newOpmBundleValidateCommand(s command.Streams, access *accessFlags) *cobra.Command {
	var tag, builder string
	var optional []string
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check the image of a bundle",
		Long: `Check the image of a bundle. Only errors are told; 'fairlead bundle validate' tells warnings, too, and checks directories and by
more validators.`,
		Args: command.Usage(cobra.NoArgs),
	}
	cmd.Flags().StringVarP(&tag, "tag", "t", "", "image of the bundle")
	cmd.Flags().StringVarP(&builder, "image-builder", "b", "docker", "accepted (docker, podman or none): images are read without a program")
	cmd.Flags().StringSliceVarP(&optional, "optional-validators", "o", nil, "further validators: operatorhub, bundle-objects")
	requireFlags(cmd, "tag")
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if !slices.Contains([]string{"docker", "podman", "none"}, builder) {
			return command.UsageError{Err: fmt.Errorf("invalid --image-builder %q, expected (none|docker|podman)", builder)}
		}
		selected, err := validate.Select(optional...)
		if err != nil {
			return command.UsageError{Err: err}
		}
		r := access.renderer(s.Err, bundleio.BundleImage)
		defer closeNoting(s.Err, r)
		source, err := bundleio.Open(cmd.Context(), r, tag)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, source.Close()) }()
		report, err := validate.Run(cmd.Context(), bundle.Inspect(source.FS), validate.Options{Optional: selected})
		if err != nil || report.Passed {
			return err
		}
		for _, finding := range report.Findings {
			if finding.Severity == catalog.Error {
				fmt.Fprintln(s.Err, finding)
			}
		}
		return fmt.Errorf("Bundle validation errors: %d in %s", len(report.Errors()), tag) //nolint:staticcheck // scripts look for these words
	}
	return cmd
}
