package cli

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// planContents are the flags of what is shown of the objects of a plan.
type planContents struct {
	wanted  bool
	bundles []string
}

// add reads the bundles that it takes to show the objects of the steps.
func (c *planContents) add(ctx context.Context, s command.Streams, plan *v1alpha1.InstallPlan, view *preview.PlanView) (err error) {
	r := &bundleio.Renderer{}
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	given := map[string]*bundle.Bundle{}
	for _, ref := range c.bundles {
		b, err := readBundle(ctx, r, ref)
		if err != nil {
			return err
		}
		given[b.Name] = b
	}
	return view.AddManifests(ctx, plan, func(ctx context.Context, lookup v1alpha1.BundleLookup) (*bundle.Bundle, error) {
		if b := given[lookup.Identifier]; b != nil {
			return b, nil
		}
		if lookup.Path == "" {
			return nil, fmt.Errorf("the InstallPlan names no image of bundle %s: name its directory or image by --bundle", lookup.Identifier)
		}
		err := bundleio.CheckImage(lookup.Path) // what a plan names is never a directory
		var b *bundle.Bundle
		if err == nil {
			b, err = readBundle(ctx, r, lookup.Path)
		}
		if err != nil {
			return nil, fmt.Errorf("read bundle %s: %w; without that registry, name a directory or another image of it by --bundle", lookup.Identifier, err)
		}
		return b, nil
	})
}

func readBundle(ctx context.Context, r *bundleio.Renderer, ref string) (b *bundle.Bundle, err error) {
	source, err := bundleio.Open(ctx, r, ref)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	return bundle.Load(source.FS)
}
