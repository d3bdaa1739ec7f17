package authoring

import (
	"os"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

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
