package manager

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/controller/catalogsource"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// addStandby lets the manager read catalogs also while another one leads, and returns what both have read.
func addStandby(mgr manager.Manager, o Options, s stores) (catalogsource.Contents, error) {
	contents := catalogsource.Contents{Leading: s.catalogs, Standby: s.standby}
	if !o.LeaderElection {
		return contents, nil // it leads from the start
	}
	standby := catalogsource.NewStandby(catalogsource.StandbyOptions{
		Sources: mgr.GetClient(), Live: mgr.GetAPIReader(), Images: catalogstore.ImageReader{Images: s.contents, Indexes: s.indexes},
		Leading: s.catalogs, Contents: contents.Standby, StoreBytes: o.StoreBytes, TLS: o.TLS.Client, Turns: s.turns, Keep: s.digests,
		Clock: clock.RealClock{}, Elected: mgr.Elected(), Log: o.Log.WithName("standby"),
	})
	s.policies.OnChange(standby.Changed)
	return contents, mgr.Add(following{standby, mgr})
}

// following tells a Standby of changes.
type following struct {
	*catalogsource.Standby
	mgr manager.Manager
}

// Start reads catalogs until the context ends.
func (f following) Start(ctx context.Context) error {
	informer, err := f.mgr.GetCache().GetInformer(ctx, &v1alpha1.CatalogSource{})
	if err == nil {
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { f.Changed() }, UpdateFunc: func(any, any) { f.Changed() }, DeleteFunc: func(any) { f.Changed() },
		})
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("watch CatalogSources while another manager leads: %w", err)
	}
	return f.Standby.Start(ctx)
}
