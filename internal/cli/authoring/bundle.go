package authoring

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// NewBundle is the command `bundle`.
func NewBundle(s command.Streams) *cobra.Command {
	return command.Group("bundle", "Generate, check, build and unpack operator bundles",
		newBundleBuildCommand(s),
		newBundleExtractCommand(s),
		newBundleGenerateCommand(s),
		newBundlePushCommand(s),
		newBundleRenderCommand(s),
		newBundleUnpackCommand(s),
		newBundleValidateCommand(s),
	)
}

func newBundleUnpackCommand(s command.Streams) *cobra.Command {
	var dir, rootCA string
	var unchecked bool
	cmd := &cobra.Command{
		Use:   "unpack IMAGE",
		Short: "Write the files of a bundle image into a directory",
		Long: `Write all files of a bundle image into a directory, which is made. Files that are there already are not replaced, and nothing is
written elsewhere, whatever the image holds. A bundle that is not valid is refused.`,
		Example: `  fairlead bundle unpack quay.io/org/my-bundle:v1.0.0 --output-dir ./bundle`,
		Args:    command.Usage(cobra.ExactArgs(1)),
	}
	cmd.Flags().StringVarP(&dir, "output-dir", "u", ".", "directory to write the files into") // as bundle generate calls it
	cmd.Flags().StringVar(&dir, "out", ".", "directory to write the files into")
	hideFlag(cmd.Flags(), "out") // what it was called before
	cmd.Flags().StringVarP(&rootCA, "root-ca", "c", "", "file with the CA certificates of the registry, besides those of the system")
	cmd.Flags().BoolVarP(&unchecked, "skip-validation", "v", false, "write the files even if the bundle is not valid")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		r := &bundleio.Renderer{}
		if rootCA != "" {
			certs, err := bundleio.Authorities(rootCA)
			if err != nil {
				return err
			}
			defer os.RemoveAll(certs)
			r.Config.CertsDir = certs
		}
		done := command.Attach(r, s)
		defer func() { err = errors.Join(err, done()) }()
		pinned, err := bundleio.Unpack(cmd.Context(), r, args[0], dir, unchecked)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(s.Out, "unpacked %s to %s\n", pinned, filepath.Clean(dir))
		return err
	}
	return cmd
}

func newBundleRenderCommand(s command.Streams) *cobra.Command {
	var output, imageRef string
	var migrate bool
	cmd := &cobra.Command{
		Use:   "render DIRECTORY|IMAGE...",
		Short: "Write bundles as the olm.bundle objects of a catalog",
		Long: `Write bundles, directories or images, as the olm.bundle objects of a catalog. They hold all manifests; --migrate writes the metadata that
clusters need in their place, which is many times smaller and needs an image. How bundles upgrade from each other is no part of them.`,
		Example: `  fairlead bundle render quay.io/org/my-bundle:v1.0.0 --migrate >> catalog/my-operator/catalog.json
  fairlead bundle render ./bundle --image-ref-template 'quay.io/org/{{.Package}}-bundle:v{{.Version}}'`,
		Args: command.Usage(cobra.MinimumNArgs(1)),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "json", "how to write the bundles: json or yaml")
	cmd.Flags().BoolVar(&migrate, "migrate", false, "write olm.csv.metadata in place of the manifests")
	cmd.Flags().StringVar(&imageRef, "image-ref-template", "", "image of the bundles of directories: a template with {{.Package}}, {{.Name}} and {{.Version}}")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		write, ok := map[string]func(io.Writer, *catalog.Catalog) error{"json": catalog.WriteJSON, "yaml": catalog.WriteYAML}[output]
		if !ok {
			return command.UsageError{Err: fmt.Errorf("output format %q: choose json or yaml", output)}
		}
		r := &bundleio.Renderer{Allowed: bundleio.BundleDir | bundleio.BundleImage}
		if migrate {
			r.Migrations = catalog.MigrateAll
		}
		if imageRef != "" {
			var err error
			if r.ImageRef, err = bundleio.ParseImageRef(imageRef); err != nil {
				return command.UsageError{Err: err}
			}
		}
		c, err := renderedCatalog(cmd.Context(), s, r, args...)
		if err != nil {
			return err
		}
		return write(s.Out, c)
	}
	return cmd
}
