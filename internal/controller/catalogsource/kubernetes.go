package catalogsource

import (
	"fairlead.dev/fairlead/internal/reconcile"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
)

// clusterVersion remembers the version of the cluster, which image templates may ask for; nil when it is not known.
func clusterVersion(server discovery.ServerVersionInterface, clock clock.PassiveClock) *reconcile.ClusterVersion[*version.Version] {
	return &reconcile.ClusterVersion[*version.Version]{Server: server, Clock: clock, Parse: version.ParseSemantic,
		Without: "images of catalogs that depend on it stay as they are"}
}
