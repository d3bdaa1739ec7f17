package reconcile

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// AddCache makes a cache with the client, the kinds and the scheme of the manager, which starts it before the controllers.
func AddCache(mgr manager.Manager, what string, options cache.Options) (cache.Cache, error) {
	options.HTTPClient, options.Scheme, options.Mapper = mgr.GetHTTPClient(), mgr.GetScheme(), mgr.GetRESTMapper()
	own, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("make a cache of %s: %w", what, err)
	}
	return own, mgr.Add(started{own})
}

// started is a cache as the manager knows them.
type started struct{ cache.Cache }

// GetCache is how the manager tells caches from others.
func (s started) GetCache() cache.Cache { return s.Cache }
