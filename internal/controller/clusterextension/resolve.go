package clusterextension

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/utils/lru"
)

// resolve asks the catalogs for the bundle of an extension. The offer is empty where they could not be asked, and the outcome has the reason.
func (c *Controller) resolve(ctx context.Context, s *state, o *outcome) desired.Offer {
	in, err := c.observer.request(ctx, s)
	if err != nil {
		o.problem = err
		return desired.Offer{}
	}
	_, pinned := s.ext.Annotations[desired.RollbackToKey]
	if !pinned && !c.fetcher.fromImage(ctx, s, &in, o) {
		return desired.Offer{}
	}
	o.unmet = resolution.Unmet(in)
	o.resolved, err = resolution.Extension(ctx, in)
	if err != nil && !errors.As(err, &o.conflict) {
		o.problem = fmt.Errorf("decide which bundle to have: %w", err)
		return desired.Offer{}
	}
	offer := desired.Offer{Result: o.resolved, Conflict: o.conflict, Range: in.Version, Catalogs: in.Catalogs}
	if pinned {
		o.conflict = nil // what catalogs have does not matter
	}
	if offer.Conflict != nil {
		return offer
	}
	o.leftOut = o.resolved.LeftOut
	if held := o.resolved.Held; o.resolved.Bundle != nil && held != nil && held.Upgrades == 0 {
		o.notes = append(o.notes, fmt.Sprintf("%s is not installed: %s", held.Wanted, held.Reason))
		if held.Advice != "" {
			o.notes = append(o.notes, held.Advice)
		}
	}
	return offer
}

// maxContents is how many contents are kept that were rendered and could not be written yet, by the names of extensions: those that were used last. One may
// have 20 MB; others are rendered again.
const maxContents = 8

// fetcher gets bundles, and what revisions are made of.
type fetcher struct {
	*environment
	preflight *preflight
	interests *interests
	// rendered are the contents that could not be written yet.
	rendered *lru.Cache
}

// fromImage makes the request one for the image that the extension names, in the place of what catalogs have. It is false while the bundle is
// not at hand, which the outcome tells. An image that a revision was made of is known without being fetched.
func (f *fetcher) fromImage(ctx context.Context, s *state, in *resolution.ExtensionRequest, o *outcome) bool {
	ref, err := snapshot.BundleImage(s.ext)
	if err != nil {
		o.problem = revision.Misconfigured(err)
		return false
	}
	if ref == "" {
		return true
	}
	if len(f.AllowedImages) > 0 && !f.AllowedImages.Covers(ref) {
		o.problem = revision.Misconfigured(fmt.Errorf("annotation %s names image %s, and the manager takes images from %s only, as its flag --allowed-bundle-registries says: "+
			"name an image that is there, or have the flag changed", snapshot.BundleImageKey, ref, f.AllowedImages))
		return false
	}
	x := snapshot.KnownBundleImage(s.revisions.Newest(), ref)
	if x == nil {
		x = snapshot.KnownBundleImage(s.revisions.Installed(), ref)
	}
	if x == nil {
		// What costs less than to fetch the bundle is checked first: nothing is fetched that has no place to go.
		if o.problem = f.preflight.checks().Namespace(ctx, s.ext); o.problem != nil {
			return false
		}
		if err := f.preflight.checks().AccountExists(ctx, s.ext); err != nil {
			o.problem = permissionProblem{err}
			o.soonest(recheck)
			return false
		}
		got := f.ask(ctx, s.ext.Name, bundleio.Request{Image: ref}, o)
		if got.Bundle == nil {
			return false
		}
		if x, err = snapshot.ReadBundleImage(got.Bundle, ref); err != nil {
			o.problem = revision.Blocked(fmt.Errorf("install image %s: %w", ref, err))
			return false
		}
	}
	narrow, err := snapshot.NarrowToImage(*in, x, ref)
	if err != nil {
		o.problem = revision.Misconfigured(err)
		return false
	}
	*in = narrow
	o.notes = append(o.notes, "image "+ref+" is installed whatever catalogs have, as annotation "+snapshot.BundleImageKey+" asks for")
	return true
}
