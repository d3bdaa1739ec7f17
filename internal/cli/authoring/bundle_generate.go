package authoring

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/bundle/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
)

// annotationFlags say what a bundle is called and where it is offered.
type annotationFlags struct{ request scaffold.Request }

func (f *annotationFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.request.Package, "package", "p", "", "name of the package")
	cmd.Flags().StringSliceVarP(&f.request.Channels, "channels", "c", nil, "channels of the bundle, separated by commas")
	cmd.Flags().StringVarP(&f.request.DefaultChannel, "default", "e", "", "default channel of the package")
	cmd.Flags().StringVarP(&f.request.OutputDir, "output-dir", "u", "", "directory to copy the manifests to and to write the metadata in (default: beside the manifests)")
	cmd.Flags().BoolVar(&f.request.Overwrite, "overwrite", false, "replace annotations, copies of manifests and a Dockerfile that say something else")
}

// generatedBundle is the result of generate for programs.
type generatedBundle struct {
	MediaType   string            `json:"mediaType"`
	Annotations map[string]string `json:"annotations"`
	Written     []string          `json:"written"`
}

func newBundleGenerateCommand(s command.Streams) *cobra.Command {
	var format command.Output
	var f annotationFlags
	cmd := &cobra.Command{
		Use:   "generate MANIFESTS",
		Short: "Write the annotations and the Dockerfile that make manifests a bundle",
		Long: `Write metadata/annotations.yaml beside a directory of manifests, and bundle.Dockerfile in the current directory. Package and channels
are inferred when the manifests belong to a package-manifest directory.

Files that are there already stay when they say the same, and otherwise are an error unless --overwrite is given. Annotations of others
always stay.`,
		Example: `  fairlead bundle generate ./bundle/manifests --package my-operator --channels stable,fast --default stable
  fairlead bundle generate ./packages/my-operator/1.0.0 --output-dir ./bundle`,
		Args: command.Usage(cobra.ExactArgs(1)),
	}
	format.Flag(cmd)
	f.add(cmd)
	cmd.Flags().StringVar(&f.request.BaseImage, "base-image", "scratch", "image that the Dockerfile begins with")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		f.request.Manifests, f.request.WorkingDir = args[0], "."
		plan, err := scaffold.Make(cmd.Context(), f.request)
		if err != nil {
			return err
		}
		if err := plan.Write(); err != nil {
			return err
		}
		result := generatedBundle{MediaType: plan.MediaType, Annotations: plan.Annotations, Written: []string{}}
		for _, file := range plan.Files {
			result.Written = append(result.Written, file.Path)
		}
		return format.Write(s.Out, result, func(w io.Writer) error {
			for _, path := range result.Written {
				if _, err := fmt.Fprintln(w, "wrote", path); err != nil {
					return err
				}
			}
			if len(result.Written) == 0 {
				_, err := fmt.Fprintln(w, "everything is as it should be")
				return err
			}
			return nil
		})
	}
	return cmd
}
