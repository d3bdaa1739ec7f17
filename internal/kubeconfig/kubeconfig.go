// Package kubeconfig is how commands find the cluster to work on: the usual flags, $KUBECONFIG, ~/.kube/config, or the pod that the
// program runs in. It connects to nothing by itself. Start reading at Flags.
package kubeconfig

import (
	"fmt"

	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Flags are what the user says about the cluster.
type Flags struct {
	path      string
	context   string
	namespace string
}

// AddCluster adds the flags that choose a cluster.
func (f *Flags) AddCluster(flags *pflag.FlagSet) {
	flags.StringVar(&f.path, "kubeconfig", "", "kubeconfig of the cluster (default: $KUBECONFIG, then ~/.kube/config)")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig to use")
}

// AddNamespace adds the flag that chooses a namespace.
func (f *Flags) AddNamespace(flags *pflag.FlagSet) {
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace (default: that of the kubeconfig's context)")
}

func (f *Flags) loader() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.path
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.context}
	overrides.Context.Namespace = f.namespace
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
}

// Files are those that the cluster may have been found in.
func (f *Flags) Files() []string { return f.loader().ConfigAccess().GetLoadingPrecedence() }

// Config is the client configuration for the cluster.
func (f *Flags) Config() (*rest.Config, error) {
	config, err := f.loader().ClientConfig()
	if err != nil {
		if file := f.unreadable(); file != nil {
			return nil, file
		}
	}
	switch {
	case err != nil && f.path != "":
		return nil, fmt.Errorf("find a cluster in %s: %w", f.path, err)
	case err != nil:
		return nil, fmt.Errorf("find a cluster: %w; name a kubeconfig with --kubeconfig, or start a cluster with: fairlead cluster start", err)
	}
	return config, nil
}

// Namespace is the namespace to work in.
func (f *Flags) Namespace() (string, error) {
	namespace, _, err := f.loader().Namespace()
	if err != nil {
		return "", fmt.Errorf("find the namespace of the kubeconfig's context: %w", err)
	}
	return namespace, nil
}
