package registryclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/proto"

	"fairlead.dev/fairlead/api/registry"
	"fairlead.dev/fairlead/catalog"
)

// What one server may say about its catalog.
const (
	maxPackages = 100_000
	maxEntries  = 1_000_000
	maxBytes    = 1 << 30   // of all messages
	maxKept     = 256 << 20 // of what stays in memory until the end: packages, channels, names of bundles
)

// Write asks for everything and writes it as the objects of a catalog, in JSON: packages and channels as they are asked for one by one,
// bundles and upgrade edges as they are listed, and what the heads of channels look like as far as the server says that. A server does not
// report other objects. Bundles are written as they come, so that never more than a few of them are in memory. The digest is the same for the
// same objects, in whatever order the server lists them.
func (c *Client) Write(ctx context.Context, w io.Writer) (digest string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	g := newGatherer(w)
	defer g.heads.tasks.Wait()
	defer cancel() // nothing is asked for any more once the reading is over
	for name, err := range c.Packages(ctx) {
		if err != nil {
			return "", err
		}
		p, err := c.Package(ctx, name)
		if err != nil {
			return "", err
		}
		if err := g.addPackage(p); err != nil {
			return "", c.failed("read the packages", err)
		}
	}
	for b, err := range c.Bundles(ctx) {
		if err != nil {
			return "", err
		}
		if err := g.addEntry(ctx, c, b); err != nil {
			return "", c.failed("read the bundles", err)
		}
	}
	g.heads.tasks.Wait()
	if digest, err = g.finish(); err != nil {
		return "", c.failed("keep the catalog", err)
	}
	return digest, nil
}

// gatherer puts together what a server says.
type gatherer struct {
	catalog    catalog.Catalog   // without its bundles
	channels   map[[2]string]int // index by package and name
	deprecated map[string]int    // index by package
	bundles    map[[2]string]bool
	heads      *heads
	entries    int
	bytes      int

	mu    sync.Mutex // of what heads that are asked for in the background add to
	out   objects
	err   error // of writing bundles
	kept  int
	icons map[string]*catalog.Icon // by package
}

func newGatherer(w io.Writer) *gatherer {
	return &gatherer{channels: map[[2]string]int{}, deprecated: map[string]int{}, bundles: map[[2]string]bool{}, heads: newHeads(),
		out: objects{w: w}, icons: map[string]*catalog.Icon{}}
}

func (g *gatherer) count(message proto.Message) error {
	if g.bytes += proto.Size(message); g.bytes > maxBytes {
		return fmt.Errorf("it says more than %d bytes about its catalog; serve a smaller one", maxBytes)
	}
	return nil
}

// overhead is about what a text takes besides its bytes.
const overhead = 16

// keep counts what stays in memory.
func (g *gatherer) keep(texts ...string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, text := range texts {
		g.kept += len(text) + overhead
	}
	if g.kept > maxKept {
		return fmt.Errorf("its packages and channels take more than %d bytes; serve a smaller catalog", maxKept)
	}
	return nil
}

func (g *gatherer) addPackage(p *registry.Package) error {
	if len(g.catalog.Packages) == maxPackages {
		return fmt.Errorf("it has more than %d packages; serve a smaller catalog", maxPackages)
	}
	if err := errors.Join(g.count(p), g.keep(p.GetName(), p.GetDefaultChannelName(), p.GetDeprecation().GetMessage())); err != nil {
		return err
	}
	for _, channel := range p.GetChannels() {
		if err := g.keep(p.GetName(), channel.GetName(), channel.GetDeprecation().GetMessage()); err != nil {
			return err
		}
	}
	g.catalog.Packages = append(g.catalog.Packages, catalog.Package{
		Schema: catalog.SchemaPackage, Name: p.GetName(), DefaultChannel: p.GetDefaultChannelName(),
	})
	g.heads.note(p)
	g.deprecate(p.GetName(), catalog.Reference{Schema: catalog.SchemaPackage}, p.GetDeprecation())
	for _, channel := range p.GetChannels() {
		g.channel(p.GetName(), channel.GetName())
		g.deprecate(p.GetName(), catalog.Reference{Schema: catalog.SchemaChannel, Name: channel.GetName()}, channel.GetDeprecation())
	}
	return nil
}

// channel finds a channel or makes it.
func (g *gatherer) channel(pkg, name string) *catalog.Channel {
	key := [2]string{pkg, name}
	i, ok := g.channels[key]
	if !ok {
		i = len(g.catalog.Channels)
		g.channels[key] = i
		g.catalog.Channels = append(g.catalog.Channels, catalog.Channel{Schema: catalog.SchemaChannel, Package: pkg, Name: name})
	}
	return &g.catalog.Channels[i]
}

// deprecate adds the message about an object, if there is one.
func (g *gatherer) deprecate(pkg string, of catalog.Reference, d *registry.Deprecation) {
	if d == nil {
		return
	}
	i, ok := g.deprecated[pkg]
	if !ok {
		i = len(g.catalog.Deprecations)
		g.deprecated[pkg] = i
		g.catalog.Deprecations = append(g.catalog.Deprecations, catalog.Deprecations{Schema: catalog.SchemaDeprecations, Package: pkg})
	}
	found := &g.catalog.Deprecations[i]
	found.Entries = append(found.Entries, catalog.Deprecation{Reference: of, Message: d.GetMessage()})
}

// addEntry adds an entry to its channel, and its bundle when it is the first one of it.
func (g *gatherer) addEntry(ctx context.Context, c *Client, b *registry.Bundle) error {
	if g.entries++; g.entries > maxEntries {
		return fmt.Errorf("it has more than %d entries of channels; serve a smaller catalog", maxEntries)
	}
	if err := errors.Join(g.count(b), g.keep(b.GetPackageName(), b.GetChannelName(), b.GetCsvName(), b.GetReplaces(), b.GetSkipRange()),
		g.keep(b.GetSkips()...), g.keep(b.GetDeprecation().GetMessage())); err != nil {
		return err
	}
	channel := g.channel(b.GetPackageName(), b.GetChannelName())
	channel.Entries = append(channel.Entries, catalog.Entry{
		Name: b.GetCsvName(), Replaces: b.GetReplaces(), Skips: b.GetSkips(), SkipRange: b.GetSkipRange(),
	})
	key := [2]string{b.GetPackageName(), b.GetCsvName()}
	if g.bundles[key] {
		return nil
	}
	g.bundles[key] = true
	bundle, err := bundleOf(b)
	if err != nil {
		return fmt.Errorf("bundle %q of package %q: %w", b.GetCsvName(), b.GetPackageName(), err)
	}
	g.deprecate(b.GetPackageName(), catalog.Reference{Schema: catalog.SchemaBundle, Name: b.GetCsvName()}, b.GetDeprecation())
	g.heads.describe(ctx, c, bundle, b.GetCsvJson(), g.write)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// write writes a bundle. The icon of a package is kept until the end, if there is room.
func (g *gatherer) write(d described) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if d.icon != nil && g.kept+len(d.icon.Data) <= maxKept {
		g.kept += len(d.icon.Data)
		g.icons[d.Package] = d.icon
	}
	g.err = errors.Join(g.err, g.out.write(&catalog.Catalog{Bundles: []catalog.Bundle{d.Bundle}}))
}
