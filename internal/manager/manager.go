package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/internal/controller/clusterserviceversion"
	tlsprofile "fairlead.dev/fairlead/internal/controller/platform"
	"fairlead.dev/fairlead/internal/kubeconfig"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/internal/rollout"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// DefaultGlobalNamespace holds the catalogs that every namespace can see.
const DefaultGlobalNamespace = "olm"

// shutdownTimeout is how long work under way may go on after the manager was told to stop: longer than its parts may take one after the
// other, and shorter than the 30 s after which a kubelet kills.
const shutdownTimeout = 25 * time.Second

// Options say what the manager works on. Config and StoreDir are required.
type Options struct {
	Config *rest.Config
	// StoreDir is the content store: images of catalogs and bundles, and large manifests. It may be lost at any time.
	StoreDir string
	// StoreBytes is how large the content store may grow; DefaultStoreBytes when zero.
	StoreBytes int64
	// Images says how registries are reached.
	Images image.Config
	// GlobalNamespace holds the catalogs that every namespace can see; DefaultGlobalNamespace when empty.
	GlobalNamespace string
	// Namespaces limits the manager to some namespaces; all when empty.
	Namespaces []string
	// WithoutV1 leaves ClusterCatalogs, ClusterExtensions and ClusterObjectSets alone.
	WithoutV1 bool
	// ProtectedCopiedCSVNamespaces have copies of ClusterServiceVersions even where an OLMConfig disables these.
	ProtectedCopiedCSVNamespaces []string
	// MetricsAddress and HealthAddress are host:port to listen on; "0" or empty for not at all. Metrics are served over HTTPS, with a
	// certificate of the manager's own where MetricsTLS names none; with MetricsTLS an empty MetricsAddress is metrics.DefaultTLSAddress.
	// MetricsPlain serves them over HTTP, without authentication.
	MetricsAddress string
	MetricsTLS     metrics.Files
	MetricsPlain   bool
	HealthAddress  string
	// Debug serves profiles beside metrics to every client where MetricsPlain is set.
	Debug bool
	// CatalogAddress is host:port to serve catalogs on over gRPC, "0" for not at all. Empty is DefaultCatalogAddress in a pod that knows
	// its address, and not at all elsewhere. CatalogAdvertise is IP:port by which pods reach it, where that is another.
	CatalogAddress   string
	CatalogAdvertise string
	// CatalogLimits bound what one catalog may cost.
	CatalogLimits CatalogLimits
	// CatalogPods says which images of catalogs are run as pods.
	CatalogPods catalogsource.PodOptions
	// TLS is how the servers of metrics, ClusterCatalogs and packages, and the clients of registries and catalogs, speak TLS; nil is as Go
	// does. One that follows is set to the profile of the cluster, where the cluster has one.
	TLS *platform.Source
	// CatalogHTTP says how the contents of ClusterCatalogs are served.
	CatalogHTTP CatalogHTTP
	// Console says whether and how the web console is served.
	Console Console
	// GlobalPullSecret names a pull secret for all images that no object names any for; none when empty.
	GlobalPullSecret types.NamespacedName
	// AllowedBundleRegistries are where the images of bundles may be that ClusterExtensions name themselves; none is anywhere.
	AllowedBundleRegistries image.Prefixes
	PackageServer           PackageServer
	// BundleUnpackTimeout is how long one attempt to fetch a bundle may take, where its OperatorGroup says nothing: 0 is
	// bundleio.DefaultTimeout, less than 0 is no bound. InstallPlanRetryTimeout is how long an InstallPlan is tried again after errors: 0 is
	// installplan.DefaultRetryTimeout.
	BundleUnpackTimeout     time.Duration
	InstallPlanRetryTimeout time.Duration
	// StableAfter is how long a workload without a readiness probe has to be available without a restart until a rollout has succeeded: 0 is
	// rollout.DefaultStableAfter, less than 0 is not at all, as where pods are simulated.
	StableAfter time.Duration
	// Dial opens connections to pods of operators, to check the certificates that they show. Where it is nil that is done in a pod that
	// knows its address alone: from elsewhere pods are out of reach, or others have their addresses.
	Dial clusterserviceversion.Dial
	// AcceptMissingPolicies lets ClusterExtensions and ClusterObjectSets be acted on where the admission policies that the v1 API relies on are
	// not in force.
	AcceptMissingPolicies bool
	// UpgradeGate is the URL that is asked whether upgrades may begin, and UpgradeGateCA a PEM file with its CA bundle; none when empty.
	UpgradeGate   string
	UpgradeGateCA string
	// LeaderElection makes the manager wait for a lease in LeaderNamespace.
	LeaderElection  bool
	LeaderNamespace string
	// Drain is how long the servers take requests after the manager was told to stop: 0 is podDrain in a pod, and not at all elsewhere.
	Drain time.Duration
	Log   logr.Logger
	// Clock tells the time; the real one when nil. Resync is how often everything that is watched is checked again although nothing
	// changed; 0 is what the library thinks best, some hours.
	Clock  clock.WithTicker
	Resync time.Duration
	// Ready, when set, is called once all controllers run.
	Ready func()
}

// Run runs the controllers until the context ends. The project's CustomResourceDefinitions must be there: see InstallCRDs.
func Run(ctx context.Context, o Options) error {
	if o.GlobalNamespace == "" {
		o.GlobalNamespace = DefaultGlobalNamespace
	}
	if o.StoreBytes == 0 {
		o.StoreBytes = DefaultStoreBytes
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	o.Images.TLS = o.TLS.Client
	s, err := openStores(o)
	if err != nil {
		return err
	}
	if s.serving, err = openServing(o, s.catalogs); err != nil {
		return err
	}
	if err := mayReadGroups(ctx, o); err != nil {
		return err
	}
	keeper, err := ownCertificate(ctx, o)
	if err != nil {
		return err
	}
	var own metrics.Certificate
	if keeper != nil {
		own = keeper.Provider()
	}
	if s.http, err = openCatalogHTTP(o, s.clusterCatalogs, own); err != nil {
		return err
	}
	if s.console, err = openConsole(ctx, o, s, own); err != nil {
		return err
	}
	turn := newLease(leaseFence)
	mgr, err := newManager(o, turn)
	if err != nil {
		return err
	}
	probes, err := openHealth(ctx, o.HealthAddress)
	if err != nil {
		return err
	}
	if o.TLS.Follows() {
		// Servers start with the TLS profile of the cluster in force. Where it cannot be read, they start with the default one: the controller
		// retries, and a manager that does not start would help no one.
		log := o.Log.WithName("tls")
		if err := tlsprofile.Begin(ctx, mgr.GetAPIReader(), o.TLS, log); err != nil {
			log.Error(err, "the servers start with the default TLS profile; the read is retried")
		}
	}
	if err := mgr.Add(s.policies); err != nil {
		return err
	}
	if err := addControllers(mgr, o, s, o.Clock); err != nil {
		return err
	}
	servers := newServices(o.drainTime())
	if err := addServices(mgr, o, s, servers, probes); err != nil {
		return err
	}
	if keeper != nil {
		if err := mgr.Add(keeper); err != nil {
			return err
		}
	}
	telemetry, err := metrics.Open(ctx, metrics.Options{Address: o.MetricsAddress, TLS: o.MetricsTLS, Own: own, Plain: o.MetricsPlain, Profile: o.TLS, REST: mgr.GetConfig(),
		Metrics: ctrlmetrics.Registry, Debug: o.Debug, Log: o.Log.WithName("metrics")})
	if err != nil {
		return err
	}
	if telemetry != nil {
		servers.Add(telemetry)
	}
	return start(ctx, mgr, o, turn, servers, probes)
}

// start runs the manager until the context ends. Then the controllers end and the lease is given back at once, and the servers a little later.
func start(ctx context.Context, mgr manager.Manager, o Options, turn *lease, servers *services, probes *health) error {
	defer probes.serve()()
	var told atomic.Pointer[time.Time]
	leave := func() {
		now := time.Now()
		told.Store(&now)
		probes.leaving.Store(true)
	}
	defer context.AfterFunc(ctx, leave)()
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	select {
	case <-turn.lost:
		servers.end()
		return fmt.Errorf("run the controllers: %w; this one ends, and is to be started again; find out why the API server did not answer for %s", errLeaseLost, leaseFence)
	case err := <-ended:
		if err != nil {
			err = fmt.Errorf("run the controllers: %w", err)
		}
		began := time.Now()
		if at := told.Load(); at != nil {
			began = *at
		}
		return withUnfinished(ctx, o.Log, errors.Join(err, servers.drained(ctx, began)))
	}
}

func newManager(o Options, turn *lease) (manager.Manager, error) {
	scheme, err := kubeconfig.Scheme()
	if err != nil {
		return nil, err
	}
	timeout := shutdownTimeout
	skip := true
	options := ctrl.Options{
		Scheme:                  scheme,
		Logger:                  o.Log,
		Metrics:                 metricsserver.Options{BindAddress: noAddress},
		HealthProbeBindAddress:  noAddress,
		GracefulShutdownTimeout: &timeout,
		Cache:                   cacheOptions(o.cached()),
		// Several managers in one process, as in tests, would otherwise clash over the names of their controllers.
		Controller: ctrlconfig.Controller{SkipNameValidation: &skip},
	}
	if o.Resync > 0 {
		options.Cache.SyncPeriod = &o.Resync
	}
	var namespace string
	if o.LeaderElection {
		if namespace, err = leaseNamespace(o.LeaderNamespace); err != nil {
			return nil, err
		}
		turn.elect(&options)
	}
	config := unlimited(o.Config)
	config.WarningHandlerWithContext = rollout.WarningHandler{}
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("set up the manager: %w", err)
	}
	if o.LeaderElection {
		if err := turn.connect(mgr, config, namespace); err != nil {
			return nil, err
		}
	}
	return mgr, nil
}

// addServices adds what runs beside the controllers.
func addServices(mgr manager.Manager, o Options, s stores, servers *services, probes *health) error {
	r := &readiness{mgr: mgr, tell: o.Ready}
	probes.ready["caches"] = r.check
	s.serving.addTo(mgr, servers)
	s.http.addTo(mgr, servers, probes)
	s.console.addTo(mgr, servers)
	return errors.Join(
		addPackageServer(mgr, o, s, servers, probes),
		mgr.Add(servers),
		mgr.Add(r),
		mgr.Add(collector{stores: s, records: filepath.Join(o.StoreDir, recordsDir), reader: mgr.GetClient(), clusterWide: o.clusterWide(), maxBytes: o.StoreBytes, log: o.Log}),
	)
}

// readiness knows whether the caches are filled, and tells once when they are.
type readiness struct {
	everyManager
	mgr    manager.Manager
	tell   func()
	filled atomic.Bool
}

// Start waits for the caches.
func (r *readiness) Start(ctx context.Context) error {
	if r.mgr.GetCache().WaitForCacheSync(ctx) {
		r.filled.Store(true)
		if r.tell != nil {
			r.tell()
		}
	}
	return nil
}

// everyManager is in what runs in every manager, and not only in the one that leads: also one that waits for its turn is ready, and serves
// catalogs and packages.
type everyManager struct{}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (everyManager) NeedLeaderElection() bool { return false }

// check is the readiness probe.
func (r *readiness) check(*http.Request) error {
	if r.filled.Load() {
		return nil
	}
	return errors.New("the caches are still being filled")
}
