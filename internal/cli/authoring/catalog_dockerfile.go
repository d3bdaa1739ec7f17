package authoring

import (
	"fmt"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
)

func newCatalogDockerfileCommand(s command.Streams) *cobra.Command {
	var i scaffold.Image
	var labels []string
	cmd := &cobra.Command{
		Use:   "dockerfile DIRECTORY",
		Short: "Write a Dockerfile for the image of a catalog",
		Long: `Write a Dockerfile for the image of a catalog beside its directory, as DIRECTORY.Dockerfile. A file that is there already is not
overwritten. To have an image without building one with Docker, see fairlead catalog push.`,
		Args: command.Usage(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVarP(&i.Base, "base-image", "i", scaffold.DefaultImage, "image that serves the catalog; scratch for an image without a program")
	cmd.Flags().StringVarP(&i.Builder, "builder-image", "b", scaffold.DefaultImage, "image that makes the cache of the catalog")
	cmd.Flags().StringSliceVarP(&labels, "extra-labels", "l", nil, "labels of the image, as key=value")
	cmd.RunE = func(_ *cobra.Command, args []string) (err error) {
		if i.Labels, err = scaffold.ParseLabels(labels); err != nil {
			return command.UsageError{Err: err}
		}
		name, err := scaffold.WriteDockerfile(args[0], i)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(s.Out, name)
		return err
	}
	return cmd
}
