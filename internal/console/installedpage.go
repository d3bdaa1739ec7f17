package console

import (
	"context"

	"fairlead.dev/fairlead/internal/ops"
)

// installedPage is what is installed or asked for, by both APIs.
type installedPage struct {
	ops.Listing
	// State is the one that is asked for: works, fails, or empty for all.
	State string `json:"state,omitempty"`
}

func (c *Console) installed(ctx context.Context, q *query) (any, error) {
	listing, err := ops.List(ctx, q.user.client, q.namespace())
	if err != nil {
		return nil, err
	}
	return &installedPage{listing, q.get("state")}, nil
}

// views are the pages.
func (c *Console) views() []view {
	return []view{
		{path: "/catalog", template: "catalog", title: "Catalog", load: c.catalog},
		{path: "/installed", template: "installed", title: "Installed", load: c.installed},
	}
}
