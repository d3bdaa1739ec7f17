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
	listing, err := ops.List(ctx, q.user.client, q.namespace(ctx))
	if err != nil {
		return nil, err
	}
	return &installedPage{listing, q.get("state")}, nil
}

func (c *Console) installedPart() part {
	return part{views: []view{{path: "/installed", template: "installed", title: "Installed", load: c.installed}}}
}
