package demo

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// bundles makes a catalog of a directory of bundles and installs packages from it, all at once.
func (d *Demo) bundles(ctx context.Context) error {
	d.show.Title("Publishing the bundles in %s to the registry at %s", d.options.Bundles, d.cluster.Registry)
	publisher := bundleio.Publisher{Registry: d.cluster.Registry}
	err := d.timed("published", func() error {
		d.show.Doing("pushing bundles")
		published, err := publisher.Push(ctx, d.sources)
		if err != nil {
			return fmt.Errorf("publish the bundles in %s: %w", d.options.Bundles, err)
		}
		c, err := bundleio.Linear(published)
		if err != nil {
			return err
		}
		digest, err := publisher.Catalog(ctx, c, catalogName+":latest")
		if err != nil {
			return err
		}
		d.sources = nil // a hundred bundles, which is not needed any more and the manager beside would have to keep
		d.show.Done("pushed %d bundle images and catalog image %s, %s", len(published), d.catalogImage(), digest)
		return nil
	})
	if err != nil {
		return err
	}
	if err := d.create(ctx, d.catalogSource()); err != nil {
		return err
	}
	if err := d.timed("catalogReady", func() error { return d.follow(ctx, (*scene).catalogReady) }); err != nil {
		return err
	}
	d.show.Title("Installing %s", strings.Join(d.options.Install, ", "))
	d.subscribed = time.Now()
	err = d.timed("installed", func() error {
		for _, name := range d.options.Install {
			if err := d.create(ctx, subscriptionTo(name, "", v1alpha1.ApprovalAutomatic)); err != nil {
				return err
			}
		}
		return d.follow(ctx, func(s *scene) bool { return s.atHead(d.options.Install...) })
	})
	if err != nil {
		return err
	}
	return d.follow(ctx, (*scene).settled) // what is needed may be a moment behind what was asked for
}

// readBundles reads the directory, and refuses packages that it does not have, before anything is started.
func (d *Demo) readBundles(context.Context) error {
	if d.options.Bundles == "" {
		return nil
	}
	var err error
	if d.sources, err = bundleio.ReadSource(os.DirFS(d.options.Bundles)); err != nil {
		return fmt.Errorf("read the bundles in %s: %w", d.options.Bundles, err)
	}
	var packages []string
	for _, s := range d.sources {
		if !slices.Contains(packages, s.Bundle.Package) {
			packages = append(packages, s.Bundle.Package)
		}
	}
	for _, name := range d.options.Install {
		if !slices.Contains(packages, name) {
			return fmt.Errorf("install package %s: %s has no bundle of it; it has %s", name, d.options.Bundles, strings.Join(packages, ", "))
		}
	}
	return nil
}
