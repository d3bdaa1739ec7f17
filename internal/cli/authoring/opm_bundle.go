package authoring

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead.dev/fairlead/bundle/scaffold"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// scaffoldFlags are the flags of generate and build.
type scaffoldFlags struct{ request scaffold.Request }

func (f *scaffoldFlags) add(flags *pflag.FlagSet) {
	flags.StringVarP(&f.request.Manifests, "directory", "d", "", "directory of the manifests")
	flags.StringVarP(&f.request.Package, "package", "p", "", "name of the package")
	flags.StringSliceVarP(&f.request.Channels, "channels", "c", nil, "channels of the bundle, separated by commas")
	flags.StringVarP(&f.request.DefaultChannel, "default", "e", "", "default channel of the package")
	flags.StringVarP(&f.request.OutputDir, "output-dir", "u", "", "directory to copy the manifests to and to write the metadata in")
	flags.StringVar(&f.request.BaseImage, "base-image", "scratch", "image that the Dockerfile begins with")
}

// write writes the annotations and the Dockerfile, the latter to the working directory.
func (f *scaffoldFlags) write(cmd *cobra.Command) error {
	f.request.WorkingDir = "."
	plan, err := scaffold.Make(cmd.Context(), f.request)
	if err != nil {
		return err
	}
	return plan.Write()
}

// requireFlags makes flags mandatory.
func requireFlags(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic("opm: " + err.Error()) // the flag is defined beside the call
		}
	}
}

func newOpmBundleGenerateCommand(command.Streams) *cobra.Command {
	var f scaffoldFlags
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write the annotations and the Dockerfile that make manifests a bundle",
		Long: `Write metadata/annotations.yaml beside the manifests, in place of what it said, and bundle.Dockerfile in the working directory, in
place of one that is there.`,
		Args: command.Usage(cobra.NoArgs),
	}
	f.add(cmd.Flags())
	requireFlags(cmd, "directory")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f.request.Overwrite = true
		return f.write(cmd)
	}
	return cmd
}

func newOpmBundleUnpackCommand(s command.Streams, access *accessFlags) *cobra.Command {
	var dir, rootCA string
	var unchecked bool
	cmd := &cobra.Command{
		Use:   "unpack BUNDLE_NAME[:TAG|@DIGEST]",
		Short: "Write the files of a bundle image into a directory",
		Args:  command.Usage(cobra.ExactArgs(1)),
	}
	flags := cmd.Flags()
	flags.BoolP("debug", "d", false, "accepted and ignored: errors say all there is")
	flags.BoolVarP(&access.skipTLS, "skip-tls", "s", false, "reach registries over plain HTTP (deprecated: use --use-http and --skip-tls-verify)")
	flags.StringVarP(&dir, "out", "o", "./", "directory to write the files into")
	flags.StringVarP(&rootCA, "root-ca", "c", "", "file with the authorities of the registry's certificate, besides those of the system")
	flags.BoolVarP(&unchecked, "skip-validation", "v", false, "write the files even if the bundle is not valid")
	hideFlag(flags, "debug")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r := access.renderer(s.Err, bundleio.Images)
		defer closeNoting(s.Err, r)
		if rootCA != "" {
			certs, err := bundleio.Authorities(rootCA)
			if err != nil {
				return err
			}
			defer os.RemoveAll(certs)
			r.Config.CertsDir = certs
		}
		_, err := bundleio.Unpack(cmd.Context(), r, args[0], dir, unchecked)
		return err
	}
	return cmd
}
