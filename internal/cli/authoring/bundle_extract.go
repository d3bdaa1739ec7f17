package authoring

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"

	"fairlead.dev/fairlead/bundle/configmap"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/kubeconfig"
)

// extractedBundle is the result of extract for programs.
type extractedBundle struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Files     int    `json:"files"`
}

func newBundleExtractCommand(s command.Streams) *cobra.Command {
	var format command.Output
	var flags kubeconfig.Flags
	var name string
	o := configmap.Options{Limit: configmap.DefaultLimit, SourceImage: os.Getenv("CONTAINER_IMAGE")}
	cmd := &cobra.Command{
		Use:   "extract DIRECTORY",
		Short: "Put a bundle directory into a ConfigMap",
		Long: `Put the files of a bundle directory into a ConfigMap of a cluster, in place of what it held; it is made if there is none. The
well-known annotations of the bundle become annotations of the ConfigMap, and the image that $CONTAINER_IMAGE names is noted there.`,
		Example: `  fairlead bundle extract ./bundle --configmap my-bundle --namespace operators --gzip`,
		Args:    command.Usage(cobra.ExactArgs(1)),
	}
	format.Flag(cmd)
	flags.AddCluster(cmd.Flags())
	flags.AddNamespace(cmd.Flags())
	cmd.Flags().StringVar(&name, "configmap", "", "name of the ConfigMap")
	cmd.Flags().IntVarP(&o.Limit, "datalimit", "l", o.Limit, "most bytes of content")
	cmd.Flags().BoolVarP(&o.Gzip, "gzip", "z", false, "compress the files")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := format.Check(); err != nil {
			return err
		}
		if name == "" {
			return command.UsageError{Err: errors.New("name the ConfigMap with --configmap")}
		}
		content, err := configmap.Encode(os.DirFS(args[0]), o)
		if err != nil {
			return err
		}
		config, err := flags.Config()
		if err != nil {
			return err
		}
		namespace, err := flags.Namespace()
		if err != nil {
			return err
		}
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
		}
		if err := bundleio.Extract(cmd.Context(), client, namespace, name, content); err != nil {
			return err
		}
		result := extractedBundle{Namespace: namespace, Name: name, Files: len(content.Data) + len(content.BinaryData)}
		return format.Write(s.Out, result, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "put %d files into ConfigMap %s/%s\n", result.Files, namespace, name)
			return err
		})
	}
	return cmd
}
