package manager

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/platform"

	"github.com/spf13/cobra"
)

const managerHelp = `Run the controllers against a cluster: that of a kubeconfig, or the one that this runs in as a pod.

The content store holds the images of catalogs and bundles. It is a cache and may be lost at any time.`

// globalNamespaceVariable of the environment names the global namespace, whatever the flag says, as it is documented.
const globalNamespaceVariable = "GLOBAL_CATALOG_NAMESPACE"

// Reach finds a way for the API server at host, which one of the kubeconfigs leads to, to reach this process; nil when it needs none.
type Reach func(host string, kubeconfigs []string) func(context.Context, netip.AddrPort) (netip.AddrPort, func(), error)

// New returns the command; it logs to log. A nil reach knows no clusters that need one.
func New(log io.Writer, reach Reach) *cobra.Command {
	var k kubeconfig.Flags
	var o Options
	var images image.Config
	var signatures signature.Flags
	var installCRDs bool
	installPolicies := os.Getenv(PodIPVariable) == ""
	var verbosity int
	var logFormat string
	var theirs *others
	var speak platform.Choice
	cmd := &cobra.Command{
		Use:   "manager",
		Short: "Run the controllers against any cluster",
		Long:  managerHelp,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			said, err := theirs.take(cmd)
			if err != nil {
				return err
			}
			for _, warning := range said {
				fmt.Fprintln(log, "warning: "+warning)
			}
			if err := o.MetricsTLS.Check(o.MetricsPlain); err != nil {
				return err
			}
			if err := o.Console.check(); err != nil {
				return err
			}
			if o.TLS, err = speak.Source(); err != nil {
				return err
			}
			config, err := k.Config()
			if err != nil {
				return err
			}
			o.Config, o.Images = config, images
			o.Images.Verifier = signature.New(signatures.Config())
			o.GlobalNamespace = globalNamespace(o.GlobalNamespace)
			if reach != nil {
				o.PackageServer.Route = reach(config.Host, k.Files())
			}
			if o.StoreDir == "" {
				cache, err := os.UserCacheDir()
				if err != nil {
					return fmt.Errorf("find a place for the content store: %w; name one with --store", err)
				}
				o.StoreDir = filepath.Join(cache, "fairlead", "content")
			}
			o.takeZeros()
			if o.Debug {
				verbosity = max(verbosity, 1)
			}
			if o.Log, err = (logging{logFormat, verbosity}).start(log); err != nil {
				return err
			}
			LimitMemory(o.Log)
			return run(cmd.Context(), log, o, installCRDs, installPolicies)
		},
	}
	flags := cmd.Flags()
	k.AddCluster(flags)
	flags.BoolVar(&installCRDs, "install-crds", true, "apply the project's CustomResourceDefinitions first")
	flags.BoolVar(&installPolicies, "install-policies", installPolicies, "create those admission policies of the v1 API that do not exist (default: outside of a pod; inside, the manifests bring them)")
	flags.BoolVar(&o.AcceptMissingPolicies, "accept-missing-policies", false,
		"install ClusterExtensions though the admission policies of the v1 API are missing or weakened: then any user who may write ClusterExtensions is an administrator of the cluster")
	flags.StringVar(&o.StoreDir, "store", "", "directory of the content store (default: one in the user's cache directory)")
	flags.Int64Var(&o.StoreBytes, "store-bytes", DefaultStoreBytes, "how large the content store may grow, in bytes")
	flags.StringVar(&o.GlobalNamespace, "global-namespace", DefaultGlobalNamespace, "namespace of the catalogs that all namespaces see; the variable GLOBAL_CATALOG_NAMESPACE wins")
	flags.StringSliceVar(&o.Namespaces, "namespaces", nil, "work on these namespaces only (default: all)")
	flags.StringSliceVar(&o.ProtectedCopiedCSVNamespaces, "protected-copied-csv-namespaces", nil, "namespaces that have copies of ClusterServiceVersions even where the OLMConfig disables these")
	flags.Var(&textFlag{kind: "apis", text: "v0,v1", set: o.setAPIs}, "apis", "APIs to work on: v0, v1, or both, separated by commas; without v1 the manager needs no right on every resource")
	addTelemetryFlags(flags, &o, &speak)
	flags.StringVar(&o.HealthAddress, "health-address", "0", "host:port to serve /healthz and /readyz on, 0 for none")
	flags.StringVar(&o.CatalogAddress, "catalog-address", "", "host:port to serve catalogs on over gRPC, 0 for none (default: :50051 in a pod with POD_IP set, else none)")
	flags.StringVar(&o.CatalogAdvertise, "catalog-advertise-address", "", "IP:port by which pods reach catalog-address (default: POD_IP and the port of catalog-address)")
	addCatalogFlags(cmd, &o)
	addBundleFlags(flags, &o)
	addClusterCatalogFlags(flags, &o)
	addConsoleFlags(flags, &o.Console)
	flags.BoolVar(&o.LeaderElection, "leader-election", false, "wait for a lease, so that of several managers one works at a time")
	flags.StringVar(&o.LeaderNamespace, "leader-namespace", "", "namespace of the lease (default: that of the pod)")
	flags.StringVar(&images.CertsDir, "registry-certs", "", "directory with certificates of registries, a folder for each host")
	flags.StringVar(&images.AuthFile, "registry-auth", "", "file with credentials of registries")
	flags.StringVar(&images.RegistriesConf, "registries-conf", "", "registries.conf with mirrors of registries")
	flags.StringSliceVar(&images.Insecure, "insecure-registry", nil, "host[:port] of a registry that may be reached without TLS")
	signatures.Add(flags)
	flags.IntVarP(&verbosity, "verbosity", "v", 0, "log more: 1 each reconcile, 2 what libraries have to say, and more for finding errors")
	flags.StringVar(&logFormat, "log-format", logText, "how each line of the log is written: "+logText+" or "+logJSON)
	theirs = addOthers(flags)
	return cmd
}

// takeZeros makes the options of durations for which a flag says 0: in the options that is the default.
func (o *Options) takeZeros() {
	for _, d := range []*time.Duration{&o.BundleUnpackTimeout, &o.StableAfter} {
		if *d == 0 {
			*d = -1
		}
	}
}

// globalNamespace is the one that the environment names, else that of the flag.
func globalNamespace(flag string) string { return cmp.Or(os.Getenv(globalNamespaceVariable), flag) }

func run(ctx context.Context, log io.Writer, o Options, installCRDs, installPolicies bool) error {
	if installCRDs {
		if err := InstallCRDs(ctx, o.Config); err != nil {
			return err
		}
	}
	if installPolicies && !o.WithoutV1 {
		if err := InstallPolicies(ctx, log, o); err != nil {
			return err
		}
	}
	o.Ready = func() { fmt.Fprintf(log, "the controllers run against %s\n", o.Config.Host) }
	return Run(ctx, o)
}
