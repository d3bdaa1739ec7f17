package clusterextension

import (
	"context"
	"slices"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// installedBy is what an extension has installed; nil when that is nothing.
func (c *Controller) installedBy(ctx context.Context, ext *olmv1.ClusterExtension) (*resolution.Installed, error) {
	all, err := revision.List(ctx, c.client, ext.Name, ext.UID)
	if err != nil {
		return nil, err
	}
	r := revision.Installed(all)
	if r == nil {
		return nil, nil
	}
	is, err := c.installedOf(r)
	if err != nil {
		return &resolution.Installed{}, nil // it is there, and nobody knows what it provides
	}
	return is, nil
}

// hasNeeds tells whether an active revision needs something of other extensions, or may.
func (c *Controller) hasNeeds(s *state) bool {
	for i := range s.revisions {
		if r := &s.revisions[i]; revision.Active(r) {
			is, err := c.installedOf(r)
			if err != nil || len(is.Properties) == 0 || slices.ContainsFunc(is.Properties, resolution.IsNeed) {
				return true // of broken and of too many properties nobody knows
			}
		}
	}
	return false
}
