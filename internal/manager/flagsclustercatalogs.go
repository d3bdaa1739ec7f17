package manager

import (
	"errors"
	"fmt"
	"slices"
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
	flags.Var(&textFlag{kind: "registries", set: o.addRegistries}, "allowed-bundle-registries",
		"hosts of registries, or hosts with the beginning of a path, separated by commas, that ClusterExtensions may name images of bundles of; what catalogs name is not limited (default: all)")
	flags.Var(&textFlag{kind: "namespace/name", set: o.setPullSecret}, "global-pull-secret", "NAMESPACE/NAME of a pull secret for the images of ClusterCatalogs and ClusterExtensions")
}

// textFlag is a flag whose text is read into the options; what reads it returns the value as it would be written.
type textFlag struct {
	kind, text string
	set        func(text string) (string, error)
}

// String is the value as it would be written.
func (f *textFlag) String() string { return f.text }

// Set reads a value.
func (f *textFlag) Set(text string) (err error) {
	f.text, err = f.set(text)
	return err
}

// Type is what help calls it.
func (f *textFlag) Type() string { return f.kind }

// setAPIs reads the APIs to work on. The v0 API is always among them.
func (o *Options) setAPIs(text string) (string, error) {
	names := strings.Split(text, ",")
	for _, name := range names {
		if name != "v0" && name != "v1" {
			return "", fmt.Errorf("%q is no API: give v0, or v0,v1", name)
		}
	}
	if !slices.Contains(names, "v0") {
		return "", errors.New("the v0 API cannot be switched off: give v0, or v0,v1")
	}
	if o.WithoutV1 = !slices.Contains(names, "v1"); o.WithoutV1 {
		return "v0", nil
	}
	return "v0,v1", nil
}

// addRegistries reads a list of hosts, or of hosts with the beginning of a path. Said twice, both lists count.
func (o *Options) addRegistries(text string) (string, error) {
	if text == "" {
		o.AllowedBundleRegistries = nil
		return "", nil
	}
	more, err := image.ParsePrefixes(strings.Split(text, ","))
	o.AllowedBundleRegistries = append(o.AllowedBundleRegistries, more...)
	return strings.Join(o.AllowedBundleRegistries, ","), err
}

// setPullSecret reads NAMESPACE/NAME.
func (o *Options) setPullSecret(text string) (string, error) {
	namespace, name, ok := strings.Cut(text, "/")
	if text != "" && (!ok || namespace == "" || name == "" || strings.Contains(name, "/")) {
		return "", fmt.Errorf("%q is not of the form NAMESPACE/NAME", text)
	}
	o.GlobalPullSecret = types.NamespacedName{Namespace: namespace, Name: name}
	return text, nil
}
