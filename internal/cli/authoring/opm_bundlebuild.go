package authoring

import (
	"errors"
	"fmt"
	"os/exec"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/bundle/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
)

// builders are the programs that can build an image, with what they are called with before the file and the tag.
var builders = map[string][]string{
	"docker":  {"build"},
	"podman":  {"build"},
	"buildah": {"bud", "--format=docker"},
}

func newOpmBundleBuildCommand(s command.Streams) *cobra.Command {
	var f scaffoldFlags
	var tag, builder string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Write what makes manifests a bundle, and build its image with docker, podman or buildah",
		Long: `Write what generate writes and build the image of the bundle with docker, podman or buildah.

'fairlead bundle build' needs none of them and puts the image into a registry at once.`,
		Args: command.Usage(cobra.NoArgs),
	}
	f.add(cmd.Flags())
	cmd.Flags().StringVarP(&tag, "tag", "t", "", "name of the image")
	cmd.Flags().StringVarP(&builder, "image-builder", "b", "docker", "program that builds the image: docker, podman or buildah")
	cmd.Flags().BoolVarP(&f.request.Overwrite, "overwrite", "o", false, "replace annotations that say something else")
	requireFlags(cmd, "directory", "tag")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f.request.Replace = true // a Dockerfile and copies of an earlier bundle
		first, ok := builders[builder]
		if !ok {
			return command.UsageError{Err: fmt.Errorf("invalid --image-builder %q, expected (docker|podman|buildah)", builder)}
		}
		if err := f.write(cmd); err != nil {
			return err
		}
		// Run a program that builds an image.
		program := exec.CommandContext(cmd.Context(), builder, append(first[:len(first):len(first)], "-f", scaffold.DockerfileName, "-t", tag, ".")...)
		program.Stdout, program.Stderr = s.Err, s.Err
		err := program.Run()
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("build the image: %s is not installed; name another program with --image-builder, or use 'fairlead bundle build', which needs none", builder)
		}
		if err != nil {
			return fmt.Errorf("build the image with %s: %w", builder, err)
		}
		return nil
	}
	return cmd
}
