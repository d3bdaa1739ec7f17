package authoring

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"fairlead.dev/fairlead/bundle/configmap"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

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
