package subscription

import (
	"fairlead.dev/fairlead/internal/reconcile"
	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
)

// clusterVersion remembers the version of the cluster; zero when it is not known.
func clusterVersion(server discovery.ServerVersionInterface, clock clock.PassiveClock) *reconcile.ClusterVersion[semver.Version] {
	return &reconcile.ClusterVersion[semver.Version]{Server: server, Clock: clock, Parse: version.ParseTolerant,
		Without: "requirements of operators on it are not checked"}
}
