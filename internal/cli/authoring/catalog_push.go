package authoring

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

func newCatalogPushCommand(s command.Streams) *cobra.Command {
	var format command.Output
	var labels []string
	var unchecked bool
	var key command.Flags
	cmd := &cobra.Command{
		Use:   "push DIRECTORY IMAGE",
		Short: "Put a catalog into a registry as an image, without Docker",
		Long: `Put the directory of a catalog into a registry as an image, without Docker. The image holds the files and the label that says
where they are; it has no program. The same files and labels always give the same digest. Credentials are those of container tools:
$REGISTRY_AUTH_FILE, ~/.docker/config.json and so on.

A catalog that is not valid is refused.

` + command.Help + `

The signature covers every image that the catalog names by digest: see fairlead catalog check.`,
		Example: `  fairlead catalog push ./catalog quay.io/org/my-catalog:latest
  fairlead catalog push ./catalog quay.io/org/my-catalog:latest --sign-key cosign.key`,
		Args: command.Usage(cobra.ExactArgs(2)),
	}
	format.Flag(cmd)
	cmd.Flags().StringSliceVarP(&labels, "extra-labels", "l", nil, "further labels of the image, as key=value")
	cmd.Flags().BoolVar(&unchecked, "skip-validation", false, "push the catalog even if it is not valid")
	key.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		signer, err := key.Read(s)
		if err != nil {
			return err
		}
		extra, err := scaffold.ParseLabels(labels)
		if err != nil {
			return command.UsageError{Err: err}
		}
		if !unchecked {
			r := &bundleio.Renderer{Allowed: bundleio.CatalogDir, Load: catalog.LoadOptions{DropPayloads: true}}
			c, err := renderedCatalog(cmd.Context(), s, r, args[0])
			if err != nil {
				return err
			}
			if err := catalog.Validate(c).Err(); err != nil {
				return fmt.Errorf("push catalog %s: it is not valid: %w", args[0], err)
			}
		}
		pushed, err := bundleio.CatalogTree(cmd.Context(), os.DirFS(args[0]), args[1], extra)
		if err != nil {
			return err
		}
		if err := signer.Sign(cmd.Context(), pushed.Image); err != nil {
			return err
		}
		return format.Write(s.Out, pushed, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, pushed.Image)
			return err
		})
	}
	return cmd
}

func newCatalogDockerfileCommand(s command.Streams) *cobra.Command {
	var i scaffold.Image
	var labels []string
	cmd := &cobra.Command{
		Use:     "dockerfile DIRECTORY",
		Example: `  fairlead catalog dockerfile ./catalog`,
		Short:   "Write a Dockerfile for the image of a catalog",
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
