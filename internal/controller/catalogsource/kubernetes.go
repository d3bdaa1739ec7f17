package catalogsource

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
)

// cluster knows the version of the cluster, which image templates may ask for.
type cluster struct {
	server discovery.ServerVersionInterface
	clock  clock.PassiveClock

	mu    sync.Mutex
	known *version.Version
	until time.Time
}

// version is the last one that is known, and nil when there never was one.
func (c *cluster) version(ctx context.Context) *version.Version {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock.Now().Before(c.until) {
		return c.known
	}
	info, err := c.server.ServerVersion()
	if err == nil {
		var found *version.Version
		if found, err = version.ParseSemantic(info.GitVersion); err == nil {
			c.known = found
		}
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "the version of the cluster cannot be found out; images of catalogs that depend on it stay as they are")
	}
	c.until = c.clock.Now().Add(templateLife)
	return c.known
}
