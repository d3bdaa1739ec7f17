package demo

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// The sample operators: the first needs an API of the second.
const (
	dependent = "guestbook-operator"
	provider  = "greeter-operator"
)

// samples installs the sample operators from an older catalog and lets a newer one upgrade them.
func (d *Demo) samples(ctx context.Context) error {
	d.show.Title("Publishing the sample bundles and an older catalog to the registry at %s", d.cluster.Registry)
	publisher := bundleio.Publisher{Registry: d.cluster.Registry}
	var published []bundleio.PublishedBundle
	err := d.timed("published", func() (err error) {
		bundles, err := fs.Sub(examples.Bundles, "bundles")
		if err != nil {
			return fmt.Errorf("read the sample bundles: %w", err)
		}
		if published, err = publisher.Bundles(ctx, bundles); err != nil {
			return err
		}
		d.show.Done("pushed %d bundle images", len(published))
		return d.publishSamples(ctx, publisher, published, "catalog-v1")
	})
	if err != nil {
		return err
	}
	d.show.Title("Installing %s, which needs an API of %s", dependent, provider)
	if err := d.create(ctx, d.catalogSource()); err != nil {
		return err
	}
	d.subscribed = time.Now()
	err = d.timed("installed", func() error {
		// Manual approval: nothing is installed before a user has agreed to the plan. The demo agrees at once.
		if err := d.create(ctx, subscriptionTo(dependent, "stable", v1alpha1.ApprovalManual)); err != nil {
			return err
		}
		return d.follow(ctx, func(s *scene) bool { return s.atHead(dependent, provider) })
	})
	if err != nil {
		return err
	}
	d.show.Title("Publishing a newer catalog under the same name; the manager looks for one every %s", pollInterval)
	d.subscribed = time.Now()
	return d.timed("upgraded", func() error {
		if err := d.publishSamples(ctx, publisher, published, "catalog"); err != nil {
			return err
		}
		return d.follow(ctx, func(s *scene) bool { return s.newest(published, dependent, provider) })
	})
}

// publishSamples pushes one of the sample catalogs, its bundles pointing at the embedded registry.
func (d *Demo) publishSamples(ctx context.Context, publisher bundleio.Publisher, published []bundleio.PublishedBundle, name string) error {
	tree, err := fs.Sub(examples.Catalogs, name)
	if err != nil {
		return fmt.Errorf("read sample catalog %s: %w", name, err)
	}
	c, err := catalog.Load(ctx, tree, catalog.LoadOptions{})
	if err != nil {
		return fmt.Errorf("load sample catalog %s: %w", name, err)
	}
	if err := bundleio.Relocate(c, published); err != nil {
		return err
	}
	digest, err := publisher.Catalog(ctx, c, catalogName+":latest")
	if err != nil {
		return err
	}
	d.show.Done("pushed catalog image %s, %s", d.catalogImage(), digest)
	return nil
}
