package manager

import (
	"fmt"
	"strings"

	"fairlead.dev/fairlead/internal/content/image"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
)

// addClusterCatalogFlags adds the flags of ClusterCatalogs and of what they are pulled with.
func addClusterCatalogFlags(flags *pflag.FlagSet, o *Options) {
	flags.StringVar(&o.CatalogHTTP.Address, "catalog-http-address", "",
		"host:port to serve ClusterCatalogs on over HTTPS, or HTTP on loopback, 0 for none (default: "+DefaultCatalogHTTPAddress+" in a pod with POD_IP set, else a free port on loopback)")
	flags.StringVar(&o.CatalogHTTP.URL, "catalog-http-url", "",
		"URL, or HOST[:PORT], by which clients reach catalog-http-address (default: Service "+CatalogHTTPService+" in the namespace of the pod, else the address itself)")
	flags.StringVar(&o.CatalogHTTP.Certificate, "catalog-http-cert", "", "PEM file with the certificate of catalog-http-address; followed when it changes (default: one of the manager's own, whose CA bundle is in ConfigMap "+ServingCA+")")
	flags.StringVar(&o.CatalogHTTP.Key, "catalog-http-key", "", "PEM file with the key of catalog-http-cert")
	flags.BoolVar(&o.CatalogHTTP.Plain, "catalog-http-plain", false, "serve ClusterCatalogs over HTTP at every address")
	flags.Var((*registries)(&o.AllowedBundleRegistries), "allowed-bundle-registries",
		"hosts of registries, or hosts with the beginning of a path, separated by commas, that ClusterExtensions may name images of bundles of; what catalogs name is not limited (default: all)")
	flags.Var((*namespacedName)(&o.GlobalPullSecret), "global-pull-secret", "NAMESPACE/NAME of a pull secret for the images of ClusterCatalogs and ClusterExtensions")
}

// registries is a flag with a list of hosts, or of hosts with the beginning of a path. Said twice, both lists count.
type registries image.Prefixes

// String is the value as it would be written.
func (r *registries) String() string { return strings.Join(*r, ",") }

// Set reads a value.
func (r *registries) Set(text string) error {
	if text == "" {
		*r = nil
		return nil
	}
	more, err := image.ParsePrefixes(strings.Split(text, ","))
	*r = append(*r, more...)
	return err
}

// Type is what help calls it.
func (*registries) Type() string { return "registries" }

// namespacedName is a flag of the form NAMESPACE/NAME.
type namespacedName types.NamespacedName

// String is the value as it was written.
func (n *namespacedName) String() string {
	if n.Name == "" {
		return ""
	}
	return types.NamespacedName(*n).String()
}

// Set reads a value.
func (n *namespacedName) Set(text string) error {
	namespace, name, ok := strings.Cut(text, "/")
	if text != "" && (!ok || namespace == "" || name == "" || strings.Contains(name, "/")) {
		return fmt.Errorf("%q is not of the form NAMESPACE/NAME", text)
	}
	n.Namespace, n.Name = namespace, name
	return nil
}

// Type is what help calls it.
func (*namespacedName) Type() string { return "namespace/name" }
