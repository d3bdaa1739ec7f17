package manager

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/controller/installplan"
	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/internal/rollout"
)

// Images that pods of catalogs use besides those of the catalogs, and the user that restricted ones run as when one is asked for.
const (
	defaultOpmImage  = "quay.io/operator-framework/opm:latest"
	defaultUtilImage = "quay.io/operator-framework/olm:latest"
	workloadUser     = 1001
)

// addCatalogFlags adds the flags about what one catalog may cost, and about catalogs that are served by pods.
func addCatalogFlags(cmd *cobra.Command, o *Options) {
	var setUser bool
	flags, pods := cmd.Flags(), &o.CatalogPods
	flags.Int64Var(&o.CatalogLimits.Bytes, CatalogBytesFlag, DefaultCatalogBytes, "how many bytes the files of one catalog may have, of CatalogSources and ClusterCatalogs; a larger one is refused")
	flags.Int64Var(&o.CatalogLimits.Memory, CatalogMemoryFlag, DefaultCatalogMemory,
		"how much memory one catalog may take, in bytes; one that takes more is refused. The memory limit of the container should be at least three times as much, and 256 MiB more")
	flags.BoolVar(&pods.Always, "catalog-pods", false, "run the images of catalogs as pods, also those that the manager can serve itself")
	flags.StringVar(&pods.Settings.OpmImage, "opmImage", defaultOpmImage, "image that serves catalogs which are extracted from their images, in pods")
	flags.StringVar(&pods.Settings.UtilImage, "util-image", defaultUtilImage, "image with the program that takes catalogs out of their images, in pods")
	flags.BoolVar(&setUser, "set-workload-user-id", false, "run restricted catalog pods as user 1001 (default: as the user of the image)")
	cmd.PreRun = func(*cobra.Command, []string) {
		if setUser {
			pods.Settings.RunAsUser = workloadUser
		}
	}
}

// addBundleFlags adds the flags of the PackageManifest API, and those about InstallPlans and their bundles.
func addBundleFlags(flags *pflag.FlagSet, o *Options) {
	flags.StringVar(&o.PackageServer.Address, "package-address", "",
		"host:port to serve PackageManifests on, 0 for none (default: :5443 in a pod with POD_IP set, loopback on an embedded cluster, else none)")
	flags.StringVar(&o.PackageServer.Advertise, "package-advertise-address", "",
		"IP:port by which the API server reaches package-address (default: POD_IP and the port of package-address)")
	flags.StringVar(&o.PackageServer.Namespace, "package-namespace", "",
		"namespace of the Service and the certificate of the PackageManifest API (default: that of the pod, else global-namespace)")
	flags.DurationVar(&o.BundleUnpackTimeout, "bundle-unpack-timeout", bundleio.DefaultTimeout,
		"how long one attempt to fetch a bundle may take, 0 for no limit; annotation operatorframework.io/bundle-unpack-timeout of an OperatorGroup goes before it")
	flags.StringVar(&o.UpgradeGate, UpgradeGateFlag, "", "https:// URL that is asked with GET whether an upgrade may begin, within its upgrade window: 200 allows it, 403 or 409 holds it with the text of the answer, and so does anything else (default: none is asked)")
	flags.StringVar(&o.UpgradeGateCA, UpgradeGateCAFlag, "", "PEM file with the CA bundle of upgrade-gate-url (default: that of the system)")
	flags.DurationVar(&o.InstallPlanRetryTimeout, "install-plan-retry-timeout", installplan.DefaultRetryTimeout, "how long an InstallPlan is tried again after errors before it is Failed")
	flags.DurationVar(&o.StableAfter, "stable-after", rollout.DefaultStableAfter,
		"how long a workload that has neither a readiness probe nor minReadySeconds has to be available without a restart until its rollout has succeeded, 0 for not at all")
}

// addTelemetryFlags adds the flags of what the manager reports of itself, and of how it speaks TLS.
func addTelemetryFlags(flags *pflag.FlagSet, o *Options, c *platform.Choice) {
	flags.StringVar(&o.MetricsAddress, "metrics-address", "", "host:port to serve /metrics, /healthz and /debug/pprof on, 0 for none (default: :8443 with --tls-cert, else none)")
	flags.BoolVar(&o.MetricsPlain, "metrics-plain", false, "serve metrics over HTTP, to every client that reaches the address (default: over HTTPS, to those whom the API server lets)")
	flags.StringVar(&o.MetricsTLS.Certificate, "tls-cert", "", "PEM file with the certificate of metrics-address; followed when it changes (default: one of the manager's own, in Secret "+ServingSecret+")")
	flags.StringVar(&o.MetricsTLS.Key, "tls-key", "", "PEM file with the key of tls-cert")
	flags.StringVar(&o.MetricsTLS.ClientCA, "client-ca", "", "PEM file with the CA bundle of clients that may read /debug/pprof")
	flags.StringVar(&c.Name, "tls-profile", "", "how servers and clients speak TLS: modern, intermediate, old, or custom, which the flags tls-custom-... describe (default: the profile of the cluster on OpenShift, else intermediate)")
	flags.StringVar(&c.Version, "tls-custom-version", "", "lowest version of TLS with the profile custom: TLSv1.0, TLSv1.1, TLSv1.2 or TLSv1.3 (default: TLSv1.2)")
	flags.StringSliceVar(&c.Ciphers, "tls-custom-ciphers", nil, "cipher suites up to TLS 1.2 with the profile custom, such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256")
	flags.StringSliceVar(&c.Curves, "tls-custom-curves", nil, "key exchanges with the profile custom, such as X25519MLKEM768, X25519 and secp256r1 or prime256v1")
	flags.BoolVar(&o.Debug, "debug", false, "log as with -v 1, and with --metrics-plain let every client read /debug/pprof")
}

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
