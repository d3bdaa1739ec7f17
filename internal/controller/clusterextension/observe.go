package clusterextension

import (
	"context"
	"fmt"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/dependents"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// state is what a pass works with, as it was seen at its beginning.
type state struct {
	ext       *olmv1.ClusterExtension
	revisions revisions
	catalogs  []resolution.Catalog
	others    []resolution.InstalledExtension
	loaded    time.Duration // when a catalog that is still being loaded is not waited for any more; zero when there is none
}

// observe reads all that a decision depends on, from caches. An error in reading the revisions is the outcome of the pass: without
// them nobody knows what is installed.
func (c *Controller) observe(ctx context.Context, ext *olmv1.ClusterExtension) (*state, error) {
	own, err := revision.List(ctx, c.client, ext.Name, ext.UID)
	if err != nil {
		return nil, err
	}
	s := &state{ext: ext, revisions: own}
	if s.catalogs, err = snapshot.ListCatalogs(ctx, c.client, c.Catalogs); err != nil {
		return nil, err
	}
	s.loaded = c.loadings.look(s.catalogs, c.Clock.Now())
	s.others, err = c.others(ctx, ext.Name)
	return s, err
}

// others is what other extensions have installed.
func (c *Controller) others(ctx context.Context, but string) ([]resolution.InstalledExtension, error) {
	var all olmv1.ClusterObjectSetList
	if err := c.client.List(ctx, &all, client.MatchingLabels{olmv1.OwnerKindKey: olmv1.ClusterExtensionKind}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the revisions of all ClusterExtensions: %w", err)
	}
	c.properties.keep(all.Items)
	byOwner := map[string]revisions{}
	for i := range all.Items {
		if owner, _ := revision.ExtensionOf(&all.Items[i]); owner != "" && owner != but {
			byOwner[owner] = append(byOwner[owner], all.Items[i])
		}
	}
	var out []resolution.InstalledExtension
	for owner, sets := range byOwner {
		r := sorted(sets).installed()
		if r == nil {
			continue
		}
		if installed, err := c.installedOf(r); err == nil { // one that cannot be read is told of in its own status
			out = append(out, resolution.InstalledExtension{Name: owner, Package: r.Annotations[olmv1.PackageNameKey], Installed: *installed})
		}
	}
	return out, nil
}

// installedOf reads the bundle of a revision, properties included, from its annotations. Those are remembered as they were read last:
// every pass of every extension looks at all of them.
func (c *Controller) installedOf(r *olmv1.ClusterObjectSet) (*resolution.Installed, error) {
	return dependents.Installed(r, func(text string) ([]catalog.Property, error) {
		if known, ok := c.properties.load(r.Name, text); ok {
			return known, nil
		}
		properties, err := dependents.Properties(text)
		if err == nil {
			c.properties.store(r.Name, text, properties)
		}
		return properties, err
	})
}

// request is what is to be decided on.
func (c *Controller) request(ctx context.Context, s *state) (resolution.ExtensionRequest, error) {
	in, err := snapshot.ExtensionRequest(s.ext)
	if err != nil {
		return in, misconfigured(err)
	}
	in.Catalogs, in.Others, in.Kubernetes = s.catalogs, s.others, c.kubernetes(ctx)
	if r := s.revisions.installed(); r != nil {
		if in.Installed, err = c.installedOf(r); err != nil {
			return in, blocked(err)
		}
	}
	return in, nil
}
