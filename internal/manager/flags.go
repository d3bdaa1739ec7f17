package manager

import (
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/controller/installplan"
	"fairlead.dev/fairlead/internal/platform"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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
	flags.StringVar(&pods.Settings.OpmImage, "opmImage", defaultOpmImage, "image that serves catalogs which are taken out of their images, in pods")
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
	flags.DurationVar(&o.InstallPlanRetryTimeout, "install-plan-retry-timeout", installplan.DefaultRetryTimeout, "how long an InstallPlan is tried again after errors before it is Failed")
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
