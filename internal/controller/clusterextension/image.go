package clusterextension

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
)

// fromImage makes the request one for the image that the extension names, in the place of what catalogs have. It is false while the bundle is
// not at hand, which the outcome tells. An image that a revision was made of is known without being fetched.
func (c *Controller) fromImage(ctx context.Context, s *state, in *resolution.ExtensionRequest, o *outcome) bool {
	ref, err := snapshot.BundleImage(s.ext)
	if err != nil {
		o.problem = misconfigured(err)
		return false
	}
	if ref == "" {
		return true
	}
	if len(c.AllowedImages) > 0 && !c.AllowedImages.Covers(ref) {
		o.problem = misconfigured(fmt.Errorf("annotation %s names image %s, and the manager takes images from %s only, as its flag --allowed-bundle-registries says: "+
			"name an image that is there, or have the flag changed", snapshot.BundleImageKey, ref, c.AllowedImages))
		return false
	}
	x := snapshot.KnownBundleImage(s.revisions.newest(), ref)
	if x == nil {
		x = snapshot.KnownBundleImage(s.revisions.installed(), ref)
	}
	if x == nil {
		if x = c.readImage(ctx, s, ref, o); x == nil {
			return false
		}
	}
	narrow, err := snapshot.NarrowToImage(*in, x, ref)
	if err != nil {
		o.problem = misconfigured(err)
		return false
	}
	*in = narrow
	o.notes = append(o.notes, "image "+ref+" is installed whatever catalogs have, as annotation "+snapshot.BundleImageKey+" asks for")
	return true
}

// readImage fetches the bundle that an extension names by its image; nil while it is not there. What costs less is looked at first: nothing is
// fetched that has no place to go.
func (c *Controller) readImage(ctx context.Context, s *state, ref string, o *outcome) *catalog.Index {
	if o.problem = c.checks().Namespace(ctx, s.ext); o.problem != nil {
		return nil
	}
	if err := c.checks().AccountExists(ctx, s.ext); err != nil {
		o.problem = permissionProblem{err}
		o.soonest(recheck)
		return nil
	}
	b, _ := c.get(ctx, s.ext.Name, bundleio.Request{Image: ref}, o)
	if b == nil {
		return nil
	}
	x, err := snapshot.ReadBundleImage(b, ref)
	if err != nil {
		o.problem = blocked(fmt.Errorf("install image %s: %w", ref, err))
	}
	return x
}
