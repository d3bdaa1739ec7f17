package extensionplan

import (
	"context"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/controller/clusterextension"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// kept is what an extension goes on having when catalogs have nothing for it: the controller acts on another configuration all the same. Nil
// is that nothing changes; the plan says why.
func (p Planner) kept(ctx context.Context, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet, r *preview.ExtensionResolution, plan *Plan) (*wanted, error) {
	set := clusterextension.Kept(revisions, r.Range())
	if set == nil || clusterextension.IsMadeFor(set, ext, clusterextension.ProviderIn(p.Client.RESTMapper(), set)) {
		plan.stays(r.Conflict.Error())
		return nil, nil
	}
	version, request, err := p.request(ctx, nil, bundleio.Origin{}, set)
	if err == nil {
		var w *wanted
		if w, err = p.rendered(ctx, ext, version, request, set, plan); w != nil {
			w.conflict = r.Conflict.Error()
			return w, nil
		}
	}
	plan.stays(r.Conflict.Error())
	plan.refuse(err)
	return nil, nil
}

// stays is the plan of an extension for which nothing can be decided: what is installed stays as it is.
func (p *Plan) stays(conflict string) *Plan {
	p.Wanted = Version{}
	p.Blocked = append(p.Blocked, conflict)
	return p
}
