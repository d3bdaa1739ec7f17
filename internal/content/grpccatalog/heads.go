package grpccatalog

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

const (
	// headsAtOnce is how many heads of channels are asked for at once.
	headsAtOnce = 4
	// maxSilent is after how many heads that a server says nothing of no more are asked for.
	maxSilent = headsAtOnce
)

// heads are asked for one by one: a list of bundles leaves out the ClusterServiceVersion of each bundle that has an image, and what a package
// looks like is taken from those of its heads. That a head cannot be described is no reason not to serve it: it is installed from its image.
type heads struct {
	channels map[[2]string]string // a channel that a bundle is the head of, by package and name
	defaults map[string]string    // channels by package

	turns *Turns
	slots chan struct{}
	tasks sync.WaitGroup

	mu      sync.Mutex
	silent  int
	givenUp chan struct{} // closed when the server was silent too often
}

// described is a bundle with what its ClusterServiceVersion says of it. The icon is that of its package, if it has one to give.
type described struct {
	catalog.Bundle
	icon *catalog.Icon
}

// describe calls done with a bundle once it is described, as far as it can be. A head is asked for in the background: it is waited until there
// is room for one more, so that few are in memory.
func (h *heads) describe(ctx context.Context, c *Client, b catalog.Bundle, csv string, done func(described)) {
	channel := h.channels[[2]string{b.Package, b.Name}]
	if channel == "" || b.Image == "" || has(b.Properties, catalog.PropertyBundleObject) || has(b.Properties, catalog.PropertyCSVMetadata) {
		done(described{Bundle: b})
		return
	}
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return // the reading is over
	}
	h.tasks.Go(func() {
		defer func() { <-h.slots }()
		if csv == "" {
			csv = h.ask(ctx, c, b.Package, channel, b.Name)
		}
		result, err := h.describeInTurn(ctx, b, csv)
		if err != nil {
			result = described{Bundle: b}
		}
		if channel != h.defaults[b.Package] {
			result.icon = nil
		}
		done(result)
	})
}

// describeInTurn is describe for one of a few large descriptions at a time.
func (h *heads) describeInTurn(ctx context.Context, b catalog.Bundle, csv string) (described, error) {
	if n := catalog.JSONValues(csv); n > maxValues {
		return described{}, fmt.Errorf("describe bundle %q: its ClusterServiceVersion has about %d values, more than the %d that are read", b.Name, n, maxValues)
	}
	if len(csv) > heavy {
		if err := h.turns.heavy.begin(ctx); err != nil {
			return described{}, err
		}
		defer h.turns.heavy.end()
	}
	// Add to a bundle what its ClusterServiceVersion says of it, in the form of catalogs whose bundles have images.
	object, err := json.Marshal(manifest{[]byte(csv)})
	if err != nil {
		return described{}, fmt.Errorf("encode the ClusterServiceVersion of bundle %q: %w", b.Name, err)
	}
	whole := b
	whole.Properties = append(b.Properties[:len(b.Properties):len(b.Properties)], catalog.Property{Type: catalog.PropertyBundleObject, Value: object})
	migrated, err := catalog.Migrate(&catalog.Catalog{Bundles: []catalog.Bundle{whole}}, catalog.MigrateCSVMetadata)
	if err != nil {
		return described{}, err
	}
	d := described{Bundle: migrated.Bundles[0]}
	if has(d.Properties, catalog.PropertyBundleObject) {
		return described{}, fmt.Errorf("describe bundle %q: what the server calls its ClusterServiceVersion is none", b.Name)
	}
	var read operator
	var form *json.UnmarshalTypeError
	if err := json.Unmarshal([]byte(csv), &read); err != nil && !errors.As(err, &form) { // a field of another form says nothing
		return described{}, fmt.Errorf("read the ClusterServiceVersion of bundle %q: %w", b.Name, err)
	}
	// Those that it names, and those that it runs.
	images, seen := read.Spec.RelatedImages, map[string]bool{}
	for _, i := range images {
		seen[i.Image] = true
	}
	for _, d := range read.Spec.Install.Spec.Deployments {
		pod := d.Spec.Template.Spec
		for _, container := range append(pod.InitContainers[:len(pod.InitContainers):len(pod.InitContainers)], pod.Containers...) {
			if image := container.Image; image != "" && !seen[image] {
				seen[image] = true
				images = append(images, catalog.RelatedImage{Image: image})
			}
		}
	}
	d.RelatedImages = images
	if icons := read.Spec.Icon; len(icons) > 0 {
		if data, err := base64.StdEncoding.DecodeString(icons[0].Data); err == nil && len(data) > 0 {
			d.icon = &catalog.Icon{Data: data, MediaType: icons[0].MediaType}
		}
	}
	return d, nil
}

// ask returns the ClusterServiceVersion at the head of a channel, empty if the server does not say it.
func (h *heads) ask(ctx context.Context, c *Client, pkg, channel, name string) string {
	select {
	case <-h.givenUp:
		return ""
	default:
	}
	d := c.decoder(ctx, bundleBound)
	defer d.release()
	ctx, cancel := patiently(ctx)
	defer cancel()
	go func() { // what was begun before the server was silent too often ends with it
		select {
		case <-h.givenUp:
			cancel()
		case <-ctx.Done():
		}
	}()
	b, err := c.registry.GetBundleForChannel(ctx, &registry.GetBundleInChannelRequest{PkgName: pkg, ChannelName: channel}, d.options()...) //nolint:staticcheck // SA1019: servers answer it, and no other call has the head with its manifests
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		h.mu.Lock()
		if h.silent++; h.silent == maxSilent {
			close(h.givenUp)
		}
		h.mu.Unlock()
	}
	if err != nil || b.GetCsvName() != name {
		return ""
	}
	return b.GetCsvJson()
}

// operator is what matters here of a ClusterServiceVersion.
type operator struct {
	Spec struct {
		Icon []struct {
			Data      string `json:"base64data"`
			MediaType string `json:"mediatype"`
		} `json:"icon"`
		RelatedImages []catalog.RelatedImage `json:"relatedImages"`
		Install       struct {
			Spec struct {
				Deployments []struct {
					Spec struct {
						Template struct {
							Spec struct {
								InitContainers, Containers []struct{ Image string }
							}
						}
					}
				}
			}
		}
	}
}
