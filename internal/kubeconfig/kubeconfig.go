// Package kubeconfig is how programs reach their cluster: the usual flags, $KUBECONFIG, ~/.kube/config, or the pod that the program runs in; the
// scheme of all kinds that the project reads or writes; and ways to what only the cluster reaches. Start reading at Flags.
package kubeconfig

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Flags are what the user says about the cluster: the flags of kubectl, with its meaning.
type Flags struct {
	connection *genericclioptions.ConfigFlags
}

// values are those of the flags; without any, as without flags.
func (f *Flags) values() *genericclioptions.ConfigFlags {
	if f.connection == nil {
		f.connection = genericclioptions.NewConfigFlags(false)
		f.connection.CacheDir = nil // what a cluster serves is asked each time
	}
	return f.connection
}

func (f *Flags) loader() clientcmd.ClientConfig { return f.values().ToRawKubeConfigLoader() }

// Files are those that the cluster may have been found in.
func (f *Flags) Files() []string { return f.loader().ConfigAccess().GetLoadingPrecedence() }

// Config is the client configuration for the cluster.
func (f *Flags) Config() (*rest.Config, error) {
	config, err := f.loader().ClientConfig()
	if err == nil && f.nowhere() || clientcmd.IsEmptyConfig(err) {
		err = clientcmd.ErrEmptyConfig
	}
	if err != nil {
		if file := f.unreadable(); file != nil {
			return nil, file
		}
	}
	switch {
	case err != nil && *f.values().KubeConfig != "":
		return nil, fmt.Errorf("find a cluster in %s: %w", *f.values().KubeConfig, err)
	case err != nil:
		return nil, fmt.Errorf("find a cluster: %w; name a kubeconfig with --kubeconfig, or start a cluster with: fairlead cluster start", err)
	}
	return config, nil
}

// nowhere reports that nothing names a cluster: then kubectl, and its library, would try localhost.
func (f *Flags) nowhere() bool {
	v := f.values()
	if *v.APIServer != "" || *v.ClusterName != "" || os.Getenv("KUBERNETES_SERVICE_HOST") != "" { // the last: it runs in a pod
		return false
	}
	raw, err := f.loader().RawConfig()
	return err == nil && raw.Contexts[cmp.Or(*v.Context, raw.CurrentContext)] == nil
}

// Namespace is the namespace to work in.
func (f *Flags) Namespace() (string, error) {
	namespace, _, err := f.loader().Namespace()
	if err != nil {
		return "", fmt.Errorf("find the namespace of the kubeconfig's context: %w", err)
	}
	return namespace, nil
}

// Chosen reports whether a namespace was chosen: by the flag, by the context of the kubeconfig, or by the pod that the program runs in. Where none
// was, Namespace is that of Kubernetes, default.
func (f *Flags) Chosen() bool {
	if *f.values().Namespace != "" {
		return true
	}
	raw, err := f.loader().RawConfig()
	if err != nil {
		return false
	}
	if context, found := raw.Contexts[cmp.Or(*f.values().Context, raw.CurrentContext)]; found {
		return context.Namespace != ""
	}
	namespace, err := f.Namespace()
	return err == nil && namespace != metav1.NamespaceDefault
}

// maxTextSize is how much is printed of what is wrong with a file.
const maxTextSize = 200

// unreadable tells which file there is no cluster in because it is missing or is no kubeconfig; nil when it is neither.
func (f *Flags) unreadable() error {
	named := *f.values().KubeConfig
	files := f.Files()
	if named == "" && len(files) == 1 && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		named = files[0]
	}
	for _, file := range files {
		_, err := os.Stat(file)
		if errors.Is(err, os.ErrNotExist) {
			if file == named {
				return fmt.Errorf("read kubeconfig %s: there is no such file; correct --kubeconfig or $%s, or start a cluster with: fairlead cluster start",
					file, clientcmd.RecommendedConfigPathEnvVar)
			}
			continue
		}
		if err == nil {
			_, err = clientcmd.LoadFromFile(file)
		}
		if err != nil {
			return fmt.Errorf("read kubeconfig %s: %s; name a kubeconfig with --kubeconfig", file, plain(err))
		}
	}
	return nil
}

// plain is what is wrong with a file, without what it holds: that may be anything, and secret.
func plain(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if strings.Contains(text, "struct {") || strings.Contains(text, "Go value") || strings.Contains(text, "couldn't get version/kind") {
		return "it is not a kubeconfig"
	}
	return "it is not a kubeconfig: " + safetext.Truncate(text, maxTextSize)
}
