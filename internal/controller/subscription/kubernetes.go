package subscription

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/fairlead/version"

	"github.com/blang/semver/v4"
	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
)

// versionLife is how long the version of the cluster is remembered: it changes when the cluster is upgraded.
const versionLife = time.Minute

// serverVersion tells the version of the cluster.
type serverVersion interface {
	ServerVersion() (*apimachineryversion.Info, error)
}

// clusterVersion asks the cluster for its version now and then.
type clusterVersion struct {
	server serverVersion
	clock  clock.PassiveClock
	mutex  sync.Mutex
	known  semver.Version
	until  time.Time
}

// get returns the version of the cluster: the last one that is known when it cannot be had, and zero when there never was one.
func (v *clusterVersion) get(ctx context.Context) semver.Version {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	if v.clock.Now().Before(v.until) {
		return v.known
	}
	info, err := v.server.ServerVersion()
	if err == nil {
		var found semver.Version
		if found, err = version.ParseTolerant(info.GitVersion); err == nil {
			v.known = found
		}
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the version of the cluster cannot be found out; what operators say they need of it is not looked at")
	}
	v.until = v.clock.Now().Add(versionLife)
	return v.known
}
