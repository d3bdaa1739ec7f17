package manager

import (
	"fairlead.dev/fairlead/internal/controller/clusterobjectset"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// addClusterObjectSets adds the controller of revisions. A manager that is limited to some namespaces has none: revisions are of the whole
// cluster, and belong to one manager.
func addClusterObjectSets(mgr manager.Manager, o Options, c clock.Clock) error {
	if !o.clusterWide() {
		return nil
	}
	return clusterobjectset.Setup(mgr, clusterobjectset.Options{SystemNamespace: o.GlobalNamespace, Clock: c, Policies: o.requiredPolicies(mgr.GetClient())})
}
