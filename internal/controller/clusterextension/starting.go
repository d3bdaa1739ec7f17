package clusterextension

import (
	"context"
	"fmt"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// startPatience is how long after its start the controller waits for catalogs that were served before. To read them from the store takes a
// second, and to tell meanwhile that their content is gone would be two writes and an Event for each extension.
const startPatience = 30 * time.Second

// starting is for how long to wait for catalogs that are still to be read after the start; zero when there are none.
func (c *Controller) starting(ctx context.Context) (time.Duration, error) {
	left := c.began().Add(startPatience).Sub(c.Clock.Now())
	if left <= 0 {
		return 0, nil
	}
	var all olmv1.ClusterCatalogList
	if err := c.client.List(ctx, &all); err != nil {
		return 0, fmt.Errorf("list the ClusterCatalogs, to see whether their contents are known yet: %w", err)
	}
	for i := range all.Items {
		catalog := &all.Items[i]
		known, _ := c.Catalogs.Get(snapshot.CatalogRef(catalog.Name))
		if known.Index == nil && known.Problem == "" && snapshot.CatalogDigest(catalog) != "" && catalog.Spec.AvailabilityMode != olmv1.AvailabilityModeUnavailable {
			return left, nil
		}
	}
	return 0, nil
}
