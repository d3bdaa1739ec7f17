package extensionplan

import (
	"context"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// image reads the bundle that an extension names by its image, for the question to be about it. A stop is what the extension says wrong.
func (p Planner) image(ctx context.Context, q *preview.Question, ext *olmv1.ClusterExtension, revisions []olmv1.ClusterObjectSet) (stop, err error) {
	ref, err := snapshot.BundleImage(ext)
	if err != nil || ref == "" {
		return err, nil
	}
	x := snapshot.KnownBundleImage(revision.Installed(revisions), ref)
	if x == nil {
		b, err := p.Fetch(ctx, bundleio.Request{Image: ref})
		if err != nil {
			return nil, fmt.Errorf("read image %s, which annotation %s of ClusterExtension %s names: %w", ref, snapshot.BundleImageKey, ext.Name, err)
		}
		if x, err = snapshot.ReadBundleImage(b, ref); err != nil {
			return fmt.Errorf("install image %s: %w", ref, err), nil
		}
	}
	if ext.Spec.Source.Catalog != nil {
		if _, ok := x.Package(ext.Spec.Source.Catalog.PackageName); !ok {
			return snapshot.WrongPackage(ref, ext.Spec.Source.Catalog.PackageName), nil
		}
	}
	q.Images = map[string]*catalog.Index{ext.Name: x}
	return nil, nil
}
