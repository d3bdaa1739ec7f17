package authoring

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/configmap"
	"fairlead.dev/fairlead/bundle/scaffold"
	"fairlead.dev/fairlead/bundle/validate"
	"fairlead.dev/fairlead/catalog"
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
	flags.StringVarP(&rootCA, "root-ca", "c", "", "file with the CA certificates of the registry, besides those of the system")
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

// defaultNamespace is where other tools look for extracted bundles.
const defaultNamespace = "openshift-operator-lifecycle-manager"

// extractFlags are the flags of extract.
type extractFlags struct {
	dir, kubeconfig, configMap, namespace string
	options                               configmap.Options
}

func newOpmBundleExtractCommand(command.Streams) *cobra.Command {
	f := extractFlags{options: configmap.Options{SourceImage: os.Getenv("CONTAINER_IMAGE")}}
	cmd := &cobra.Command{
		Use:   "extract",
		Short: "Put a bundle directory into a ConfigMap",
		Args:  command.Usage(cobra.NoArgs),
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.dir, "manifestsdir", "m", "/", "directory that holds the directories manifests and metadata")
	flags.StringVarP(&f.kubeconfig, "kubeconfig", "k", "", "kubeconfig of the cluster (default: $KUBECONFIG, or the pod's own cluster)")
	flags.StringVarP(&f.configMap, "configmapname", "c", "", "name of the ConfigMap")
	flags.StringVarP(&f.namespace, "namespace", "n", defaultNamespace, "namespace of the ConfigMap")
	flags.IntVarP(&f.options.Limit, "datalimit", "l", configmap.DefaultLimit, "most bytes of content")
	flags.BoolVarP(&f.options.Gzip, "gzip", "z", false, "compress the files")
	flags.Bool("debug", false, "accepted and ignored: errors say all there is")
	hideFlag(flags, "debug")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.configMap == "" {
			return command.UsageError{Err: errors.New("name the ConfigMap with --configmapname")}
		}
		content, err := configmap.Encode(os.DirFS(f.dir), f.options)
		if err != nil {
			return err
		}
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath = f.kubeconfig
		config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
		if err != nil {
			return fmt.Errorf("find the cluster: %w; name a kubeconfig with --kubeconfig", err)
		}
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
		}
		return bundleio.Extract(cmd.Context(), client, f.namespace, f.configMap, content)
	}
	return cmd
}

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
