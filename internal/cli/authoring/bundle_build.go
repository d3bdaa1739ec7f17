package authoring

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/bundle/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
)

// destinations is the part of help texts about where images go.
const destinations = `The destination is an image in a registry, or one on disk: oci:DIRECTORY[:TAG] for an OCI layout, oci-archive:FILE[:TAG] for a tar
archive of one. The same files always give the same digest. Credentials are those of container tools: $REGISTRY_AUTH_FILE,
~/.docker/config.json and so on. A bundle that is not valid is refused.`

func newBundleBuildCommand(s command.Streams) *cobra.Command {
	var format command.Output
	var f annotationFlags
	var unchecked bool
	var key command.Flags
	cmd := &cobra.Command{
		Use:   "build MANIFESTS DESTINATION",
		Short: "Make a bundle of manifests, and its image, without Docker",
		Long: `Write the annotations of a bundle, as fairlead bundle generate does, and make its image, without Docker.

` + destinations + "\n\n" + command.Help,
		Example: `  fairlead bundle build ./bundle/manifests quay.io/org/my-bundle:v1.0.0 --package my-operator --channels stable
  fairlead bundle build ./bundle/manifests oci-archive:bundle.tar:v1.0.0 --package my-operator --channels stable`,
		Args: command.Usage(cobra.ExactArgs(2)),
	}
	format.Flag(cmd)
	f.add(cmd)
	cmd.Flags().BoolVar(&unchecked, "skip-validation", false, "make the image even if the bundle is not valid")
	key.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		signer, err := bundleSigner(key, s, args[1])
		if err != nil {
			return err
		}
		f.request.Manifests = args[0]
		plan, err := scaffold.Make(cmd.Context(), f.request)
		if err != nil {
			return err
		}
		content, labels := plan.Image()
		files, err := image.Files(content)
		if err != nil {
			return fmt.Errorf("build bundle %s: %w", args[0], err)
		}
		if err := checkedBundle(cmd.Context(), args[0], files, unchecked); err != nil {
			return err
		}
		if err := plan.Write(); err != nil {
			return err
		}
		return publishBundle(cmd.Context(), s, format, signer, files, labels, args[1])
	}
	return cmd
}

func newBundlePushCommand(s command.Streams) *cobra.Command {
	var format command.Output
	var unchecked bool
	var key command.Flags
	cmd := &cobra.Command{
		Use:   "push DIRECTORY DESTINATION",
		Short: "Put a bundle into a registry, or on disk, as an image, without Docker",
		Long: `Make the image of a bundle directory, without Docker: its manifests, metadata and tests, labelled with its annotations.

` + destinations + "\n\n" + command.Help,
		Example: `  fairlead bundle push ./bundle quay.io/org/my-bundle:v1.0.0
  fairlead bundle push ./bundle quay.io/org/my-bundle:v1.0.0 --sign-key cosign.key
  fairlead bundle push ./bundle oci:image-layout:v1.0.0`,
		Args: command.Usage(cobra.ExactArgs(2)),
	}
	format.Flag(cmd)
	cmd.Flags().BoolVar(&unchecked, "skip-validation", false, "make the image even if the bundle is not valid")
	key.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		signer, err := bundleSigner(key, s, args[1])
		if err != nil {
			return err
		}
		files, labels, err := bundleio.ImageOf(args[0])
		if err != nil {
			return err
		}
		if err := checkedBundle(cmd.Context(), args[0], files, unchecked); err != nil {
			return err
		}
		return publishBundle(cmd.Context(), s, format, signer, files, labels, args[1])
	}
	return cmd
}

func checkedBundle(ctx context.Context, dir string, files fs.FS, unchecked bool) error {
	if unchecked {
		return nil
	}
	if err := bundleio.Check(ctx, files); err != nil {
		return fmt.Errorf("bundle %s: %w", dir, err)
	}
	return nil
}

// bundleSigner is who signs what goes to a destination.
func bundleSigner(key command.Flags, s command.Streams, destination string) (*command.Signer, error) {
	if key.File != "" && bundleio.OnDisk(destination) {
		return nil, command.UsageError{Err: fmt.Errorf("--sign-key: a signature is stored in a registry beside the image, not on disk as in %s; push to a registry, or sign after copying it there", destination)}
	}
	return key.Read(s)
}

func publishBundle(ctx context.Context, s command.Streams, format command.Output, signer *command.Signer, files fs.FS, labels map[string]string, destination string) error {
	published, err := bundleio.Publish(ctx, files, labels, destination, image.PushOptions{})
	if err != nil {
		return err
	}
	if err := signer.Sign(ctx, published.Image); err != nil {
		return err
	}
	return format.Write(s.Out, published, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s\n%s\n", published.Image, published.Digest)
		return err
	})
}
