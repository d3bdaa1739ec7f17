package manager

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/internal/controller/clustercatalog"
	"fairlead.dev/fairlead/internal/controller/clusterextension"
	"fairlead.dev/fairlead/internal/controller/clusterobjectset"
	"fairlead.dev/fairlead/internal/controller/clusterserviceversion"
	"fairlead.dev/fairlead/internal/controller/copiedcsv"
	"fairlead.dev/fairlead/internal/controller/installplan"
	operatorobject "fairlead.dev/fairlead/internal/controller/operator"
	"fairlead.dev/fairlead/internal/controller/operatorcondition"
	"fairlead.dev/fairlead/internal/controller/operatorgroup"
	"fairlead.dev/fairlead/internal/controller/platform"
	"fairlead.dev/fairlead/internal/controller/providedapi"
	"fairlead.dev/fairlead/internal/controller/subscription"
	"fairlead.dev/fairlead/internal/metrics"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/rollout/permissions"
)

// controller is one that a manager runs.
type controller struct {
	kind  string
	setup func() error
}

// addControllers is the list of what runs.
func addControllers(mgr manager.Manager, o Options, s stores, c clock.Clock) error {
	news := &subscription.Notifier{}
	plans := &installplan.Notifier{}
	extensions := &clusterextension.Notifier{}
	arrived := func() {
		news.BundleArrived()
		plans.BundleArrived()
		extensions.BundleArrived()
	}
	unpacker := bundleio.NewUnpacker(s.contents, c, arrived)
	unpacker.Timeout = o.BundleUnpackTimeout
	s.policies.OnChange(func() {
		news.BundleArrived()
		plans.BundleArrived()
		extensions.PoliciesChanged()
	})
	bundles := installplan.Images{Unpacker: unpacker, Verifier: s.contents, Reader: mgr.GetAPIReader(), Catalogs: s.catalogs, GlobalNamespace: o.GlobalNamespace}
	manifests := bundleio.Manifests{Blobs: s.contents}
	pods := o.CatalogPods
	pods.Settings.GlobalNamespace, pods.Settings.ManagerNamespace = o.GlobalNamespace, os.Getenv(podNamespaceVariable)
	var served *catalogsource.Serving
	if s.serving != nil {
		served = s.serving.Serving
	}
	dial := o.Dial
	if dial == nil && os.Getenv(PodIPVariable) != "" {
		dial = (&net.Dialer{}).DialContext
	}
	gate, err := o.upgradeGate(c)
	if err != nil {
		return err
	}
	controllers := []controller{
		{"CatalogSource", func() error {
			return catalogsource.Setup(mgr, catalogsource.Options{Store: s.contents, Indexes: s.indexes, Catalogs: s.catalogs, Clock: c,
				Records: filepath.Join(o.StoreDir, recordsDir), Serving: served, Pods: pods, TLS: o.TLS.Client, Policies: s.policies, Turns: s.turns})
		}},
		{"Subscription", func() error {
			return subscription.Setup(mgr, subscription.Options{Catalogs: s.catalogs, Clock: c, Manifests: manifests,
				Unpacker: unpacker, GlobalNamespace: o.GlobalNamespace, Namespaces: o.Namespaces, Notify: news})
		}},
		{"InstallPlan", func() error {
			return installplan.Setup(mgr, installplan.Options{Clock: c, Manifests: manifests,
				Catalogs: s.catalogs, Unpacker: unpacker, Notify: plans,
				Bundles: bundles, Signatures: bundles,
				Accounts:          rollout.NewAccounts(mgr.GetConfig(), mgr.GetClient(), c),
				Namespaces:        o.Namespaces,
				OperatorNamespace: o.GlobalNamespace, RetryTimeout: o.InstallPlanRetryTimeout, UpgradeGate: gate})
		}},
		{"OperatorGroup", func() error {
			return operatorgroup.Setup(mgr, operatorgroup.Options{Clock: c, Namespaces: o.cached()})
		}},
		{"ClusterServiceVersion", func() error {
			return clusterserviceversion.Setup(mgr, clusterserviceversion.Options{Clock: c, Namespaces: o.Namespaces, Dial: dial, StableAfter: o.StableAfter})
		}},
		{"OperatorCondition", func() error { return operatorcondition.Setup(mgr, o.cached()) }},
		{"Operator", func() error { return operatorobject.Setup(mgr, o.Namespaces) }},
		{"provided API", func() error {
			return providedapi.Setup(mgr, providedapi.Options{Namespaces: o.Namespaces, ManagerRoles: o.WithoutV1})
		}},
		{"platform", func() error {
			if len(o.Namespaces) > 0 {
				return nil // it does not see all operators, and the condition is one for all
			}
			return platform.Setup(mgr, c)
		}},
		{"APIServer", func() error {
			if !o.TLS.Follows() {
				return nil
			}
			return platform.SetupTLS(mgr, o.TLS, o.Log.WithName("tls"))
		}},
		{"copied ClusterServiceVersion", func() error {
			return copiedcsv.Setup(mgr, copiedcsv.Options{Clock: c, Namespaces: o.Namespaces, Protected: o.ProtectedCopiedCSVNamespaces})
		}},
	}
	if o.clusterWide() {
		controllers = append(controllers, clusterControllers(mgr, o, s, c, unpacker, extensions, gate)...)
	}
	for _, one := range controllers {
		if err := one.setup(); err != nil {
			return fmt.Errorf("set up the %s controller: %w", one.kind, err)
		}
	}
	return nil
}

// clusterControllers are those of the v1 API, and the watch on the admission policies that it relies on. They are for the whole cluster, and
// belong to one manager.
func clusterControllers(mgr manager.Manager, o Options, s stores, c clock.Clock, bundles *bundleio.Unpacker, notify *clusterextension.Notifier, gate *UpgradeGate) []controller {
	// Images that no object names any for are pulled with the global pull secret, and those of the account of the manager.
	credentials := bundleio.Credentials{Secret: o.GlobalPullSecret}
	if namespace, account := os.Getenv(podNamespaceVariable), os.Getenv(accountVariable); namespace != "" && account != "" {
		credentials.Account = types.NamespacedName{Namespace: namespace, Name: account}
	}
	var served *clustercatalog.Serving
	if s.http != nil {
		served = &s.http.Serving
	}
	var ofSets, ofExtensions *permissions.PolicyChecker
	if !o.AcceptMissingPolicies {
		// Extensions are judged past the cache: it may lag behind an API server that lets in what it refused before.
		ofSets, ofExtensions = policyChecker(mgr.GetClient()), policyChecker(mgr.GetAPIReader())
	}
	return []controller{
		{"ClusterCatalog", func() error {
			return clustercatalog.Setup(mgr, clustercatalog.Options{Store: s.contents, Indexes: s.indexes, Catalogs: s.clusterCatalogs, Serving: served, Credentials: credentials,
				InUse: func(digest string) bool { return slices.Contains(s.digests(), digest) }, Clock: c, Policies: s.policies})
		}},
		{"ClusterObjectSet", func() error {
			return clusterobjectset.Setup(mgr, clusterobjectset.Options{SystemNamespace: o.GlobalNamespace, Clock: c, Policies: ofSets, StableAfter: o.StableAfter})
		}},
		{"ClusterExtension", func() error {
			return clusterextension.Setup(mgr, clusterextension.Options{Catalogs: s.clusterCatalogs, Clock: c, Bundles: bundles, Credentials: credentials,
				Verifier: s.contents, AllowedImages: o.AllowedBundleRegistries, SystemNamespace: o.GlobalNamespace, Notify: notify, Policies: ofExtensions, UpgradeGate: gate})
		}},
		{"admission policy", func() error {
			missing, err := metrics.Register(ctrlmetrics.Registry, metrics.NewMissingPolicies())
			if err != nil {
				return err
			}
			return mgr.Add(&policyWatch{mgr: mgr, checker: policyChecker(mgr.GetClient()), missing: missing, notify: notify.PoliciesChanged,
				log: o.Log.WithName("policies"), changed: make(chan struct{}, 1)})
		}},
	}
}

// clusterWide reports whether the manager reconciles the kinds of the v1 API, which have no namespace. One that is limited to namespaces leaves
// them to another.
func (o Options) clusterWide() bool { return len(o.Namespaces) == 0 && !o.WithoutV1 }
