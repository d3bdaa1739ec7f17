package authoring

import (
	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
)

func newOpmGenerateDockerfileCommand() *cobra.Command {
	var i scaffold.Image
	var labels []string
	var binary string
	cmd := &cobra.Command{
		Use:     "dockerfile <fbcRootDir>",
		Example: `  opm generate dockerfile catalog`,
		Short:   "Write a Dockerfile for the image of a catalog",
		Long:    "Write a Dockerfile for the image of a catalog beside its directory, as <fbcRootDir>.Dockerfile, unless it is there already.",
		Args:    command.Usage(cobra.ExactArgs(1)),
	}
	flags := cmd.Flags()
	flags.StringVarP(&i.Base, "base-image", "i", scaffold.DefaultImage, "image that serves the catalog; scratch for an image without a program")
	flags.StringVarP(&i.Builder, "builder-image", "b", scaffold.DefaultImage, "image that makes the cache of the catalog")
	flags.StringSliceVarP(&labels, "extra-labels", "l", nil, "labels of the image, as key=value")
	flags.StringVar(&binary, "binary-image", "", "the older name of --base-image")
	hideFlag(flags, "binary-image")
	cmd.MarkFlagsMutuallyExclusive("binary-image", "base-image")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if binary != "" {
			i.Base = binary
			if !cmd.Flags().Changed("builder-image") {
				i.Builder = binary
			}
		}
		if i.Labels, err = scaffold.ParseLabels(labels); err != nil {
			return command.UsageError{Err: err}
		}
		_, err = scaffold.WriteDockerfile(args[0], i)
		return err
	}
	return cmd
}
