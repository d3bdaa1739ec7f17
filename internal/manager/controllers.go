package manager

import (
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
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
	"fairlead.dev/fairlead/internal/rollout"
)

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
	for _, controller := range []struct {
		kind  string
		setup func() error
	}{
		{"CatalogSource", func() error {
			return catalogsource.Setup(mgr, catalogsource.Options{Store: s.contents, Indexes: s.indexes, Catalogs: s.catalogs, Clock: c,
				Records: filepath.Join(o.StoreDir, recordsDir), Serving: s.serving.toController(), Pods: o.catalogPods(), TLS: o.TLS.Client, Policies: s.policies, Turns: s.turns})
		}},
		{"ClusterCatalog", func() error { return addClusterCatalogs(mgr, o, s, c) }},
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
				OperatorNamespace: o.GlobalNamespace, RetryTimeout: o.InstallPlanRetryTimeout})
		}},
		{"OperatorGroup", func() error {
			return operatorgroup.Setup(mgr, operatorgroup.Options{Clock: c, Namespaces: o.cached()})
		}},
		{"ClusterServiceVersion", func() error {
			return clusterserviceversion.Setup(mgr, clusterserviceversion.Options{Clock: c, Namespaces: o.Namespaces, Dial: o.dial()})
		}},
		{"OperatorCondition", func() error { return operatorcondition.Setup(mgr, o.cached()) }},
		{"Operator", func() error { return operatorobject.Setup(mgr, o.Namespaces) }},
		{"provided API", func() error {
			return providedapi.Setup(mgr, providedapi.Options{Namespaces: o.Namespaces, ManagerRoles: o.WithoutV1})
		}},
		{"ClusterObjectSet", func() error { return addClusterObjectSets(mgr, o, c) }},
		{"ClusterExtension", func() error { return addClusterExtensions(mgr, o, s, c, unpacker, extensions) }},
		{"admission policy", func() error { return addPolicies(mgr, o, extensions.PoliciesChanged) }},
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
	} {
		if err := controller.setup(); err != nil {
			return fmt.Errorf("set up the %s controller: %w", controller.kind, err)
		}
	}
	return nil
}

// catalogPods are the options of catalogs in pods, with the namespaces whose pods may read them.
func (o Options) catalogPods() catalogsource.PodOptions {
	pods := o.CatalogPods
	pods.Settings.GlobalNamespace, pods.Settings.ManagerNamespace = o.GlobalNamespace, os.Getenv(podNamespaceVariable)
	return pods
}

// dial is how the pods of operators are reached.
func (o Options) dial() clusterserviceversion.Dial {
	if o.Dial == nil && os.Getenv(PodIPVariable) != "" {
		return (&net.Dialer{}).DialContext
	}
	return o.Dial
}

// addClusterObjectSets adds the controller of revisions. A manager that is limited to some namespaces has none: revisions are of the whole
// cluster, and belong to one manager.
func addClusterObjectSets(mgr manager.Manager, o Options, c clock.Clock) error {
	if !o.clusterWide() {
		return nil
	}
	return clusterobjectset.Setup(mgr, clusterobjectset.Options{SystemNamespace: o.GlobalNamespace, Clock: c, Policies: o.requiredPolicies(mgr.GetClient())})
}
