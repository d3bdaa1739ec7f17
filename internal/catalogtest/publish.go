package catalogtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"

	"golang.org/x/sync/errgroup"
)

// hop is an edge by the names of its bundles.
type hop struct{ pkg, from, to string }

func hopOf(e Edge) hop { return hop{e.Package, e.From, e.To} }

// channels name the channel of the tested catalog in which there is nothing but an edge. So an operator takes exactly this one when its channel is chosen,
// whatever a resolver would prefer, and the catalog is read once for all of them.
type channels map[hop]string

// of is the channel of an edge, made where there is none yet.
func (c channels) of(h hop) string {
	if _, known := c[h]; !known {
		c[h] = fmt.Sprintf("catalog-test-%d", len(c)+1)
	}
	return c[h]
}

// published is the catalog that the test installs from: of each package the bundles whose content there is, in the channels of its author, from which
// dependencies are taken, and in those of single edges.
func published(c *catalog.Catalog, all contents, images map[named]string, packages map[string]bool, edges channels) *catalog.Catalog {
	out := &catalog.Catalog{}
	added := map[string]string{} // a channel of each package that is tested
	for _, h := range slices.SortedFunc(maps.Keys(edges), func(a, b hop) int { return strings.Compare(edges[a], edges[b]) }) {
		entries := []catalog.Entry{{Name: h.to}}
		if h.from != "" {
			entries = []catalog.Entry{{Name: h.to, Replaces: h.from}, {Name: h.from}}
		}
		added[h.pkg] = edges[h]
		out.Channels = append(out.Channels, catalog.Channel{Schema: catalog.SchemaChannel, Package: h.pkg, Name: edges[h], Entries: entries})
	}
	for i := range c.Channels {
		ch := c.Channels[i]
		if !packages[ch.Package] {
			continue
		}
		if ch.Entries = remaining(ch.Entries, func(name string) bool { return all.has(ch.Package, name) }); len(ch.Entries) > 0 {
			out.Channels = append(out.Channels, ch)
		}
	}
	for i := range c.Bundles {
		b := c.Bundles[i]
		if key := (named{b.Package, b.Name}); packages[b.Package] && all.has(b.Package, b.Name) {
			if ref := images[key]; ref != "" {
				b.Image = ref
			}
			if b.Image != "" {
				b.Payloads = nil // they are in the image
			}
			out.Bundles = append(out.Bundles, b)
		}
	}
	for i := range c.Packages {
		p := c.Packages[i]
		if !packages[p.Name] {
			continue
		}
		if !slices.ContainsFunc(out.Channels, func(ch catalog.Channel) bool { return ch.Package == p.Name && ch.Name == p.DefaultChannel }) {
			at := slices.IndexFunc(out.Channels, func(ch catalog.Channel) bool { return ch.Package == p.Name })
			if at < 0 {
				continue // nothing of it can be installed
			}
			p.DefaultChannel = out.Channels[at].Name
		}
		p.Icon = nil
		out.Packages = append(out.Packages, p)
	}
	return out
}

// remaining are the entries of a channel whose bundles there are; what replaced another one replaces what that replaced.
func remaining(entries []catalog.Entry, has func(string) bool) []catalog.Entry {
	replaces := map[string]string{}
	for _, e := range entries {
		replaces[e.Name] = e.Replaces
	}
	var left []catalog.Entry
	for _, e := range entries {
		if !has(e.Name) {
			continue
		}
		for hops := 0; e.Replaces != "" && !has(e.Replaces) && hops <= len(entries); hops++ {
			e.Replaces = replaces[e.Replaces]
		}
		if !has(e.Replaces) {
			e.Replaces = ""
		}
		left = append(left, e)
	}
	return left
}

// publishBundles pushes the bundles that come from directories, and returns where each is.
func publishBundles(ctx context.Context, registry string, o image.PushOptions, all contents, packages map[string]bool) (map[named]string, error) {
	var keys []named
	for key, one := range all {
		if packages[key.pkg] && one.bundle != nil && one.files != nil {
			keys = append(keys, key)
		}
	}
	refs := make([]string, len(keys))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i, key := range keys {
		group.Go(func() error {
			b := all[key].bundle
			repository := registry + "/" + strings.ToLower(b.Package) + "-bundle"
			tag := "v" + strings.ReplaceAll(b.VersionText(), "+", "-")
			digest, err := image.Push(ctx, repository+":"+tag, all[key].files, image.BundleLabels(b.Package, b.Channels, b.DefaultChannel), o)
			if err != nil {
				return fmt.Errorf("publish bundle %s for the test: %w", b.Name, err)
			}
			refs[i] = repository + "@" + digest
			return nil
		})
	}
	err := group.Wait()
	images := map[named]string{}
	for i, key := range keys {
		images[key] = refs[i]
	}
	return images, err
}

// publishCatalog pushes a catalog and returns its reference by digest.
func publishCatalog(ctx context.Context, registry, name string, o image.PushOptions, c *catalog.Catalog) (string, error) {
	digest, err := bundleio.Publisher{Registry: registry, Options: o}.Catalog(ctx, c, name+":latest")
	if err != nil {
		return "", fmt.Errorf("publish the catalog of the test: %w", err)
	}
	return registry + "/" + name + "@" + digest, nil
}
