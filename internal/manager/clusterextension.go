package manager

import (
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/controller/clusterextension"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// addClusterExtensions adds the controller of ClusterExtensions. A manager that is limited to some namespaces has none: extensions are of the
// whole cluster, and belong to one manager.
func addClusterExtensions(mgr manager.Manager, o Options, s stores, c clock.Clock, bundles *bundleio.Unpacker, notify *clusterextension.Notifier) error {
	if !o.clusterWide() {
		return nil
	}
	// Extensions are judged past the cache: it may lag behind an API server that lets in what it refused before.
	required := o.requiredPolicies(mgr.GetAPIReader())
	return clusterextension.Setup(mgr, clusterextension.Options{Catalogs: s.clusterCatalogs, Clock: c, Bundles: bundles, Credentials: o.credentials(),
		Verifier: s.contents, AllowedImages: o.AllowedBundleRegistries, SystemNamespace: o.GlobalNamespace, Notify: notify, Policies: required})
}
