package grpccatalog

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
	maxBytes    = 1 << 30 // of all messages
)

var errTooManyPackages = fmt.Errorf("it has more than %d packages; serve a smaller catalog", maxPackages)

// Write asks for everything and writes it as the objects of a catalog, in JSON: packages and channels as they are asked for one by one,
// bundles and upgrade edges as they are listed, and what the heads of channels look like as far as the server says that. A server does not
// report other objects. Bundles are written as they come, so that never more than a few of them are in memory. The digest is the same for the
// same objects, in whatever order the server lists them. Few catalogs are read at once, of which one takes much memory; the others wait.
func (c *Client) Write(ctx context.Context, w io.Writer) (digest string, err error) {
	if err := c.turns.reading.begin(ctx); err != nil {
		return "", c.failed("read the catalog", err)
	}
	defer c.turns.reading.end()
	ctx, cancel := context.WithCancel(ctx)
	g := newGatherer(w, c.turns, c.memory)
	defer g.close()
	defer g.heads.tasks.Wait()
	defer cancel() // nothing is asked for any more once the reading is over
	for name, err := range c.Packages(ctx) {
		if err != nil {
			return "", err
		}
		err := c.withPackage(ctx, name, func(p *registry.Package, release func()) error {
			if err := g.addPackage(ctx, p, release); err != nil {
				return c.failed("read the packages", err)
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	d := c.decoder(ctx, bundleBound)
	for b, err := range c.bundles(ctx, d) {
		if err != nil {
			return "", err
		}
		if err := g.addEntry(ctx, c, b, d.release); err != nil {
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
	turns      *Turns
	most       int64 // that may be kept
	large      bool  // it is the one catalog that may keep much

	mu    sync.Mutex // of what heads that are asked for in the background add to
	out   objects
	err   error // of writing bundles
	kept  int64
	icons map[string]*catalog.Icon // by package
}

func newGatherer(w io.Writer, turns *Turns, most int64) *gatherer {
	h := &heads{turns: turns, channels: map[[2]string]string{}, defaults: map[string]string{}, slots: make(chan struct{}, headsAtOnce),
		givenUp: make(chan struct{})}
	return &gatherer{channels: map[[2]string]int{}, deprecated: map[string]int{}, bundles: map[[2]string]bool{}, heads: h, turns: turns, most: most,
		out: objects{w: w}, icons: map[string]*catalog.Icon{}}
}

// close lets another catalog keep much.
func (g *gatherer) close() {
	if g.large {
		g.turns.large.end()
	}
}

func (g *gatherer) count(message proto.Message) error {
	if g.bytes += proto.Size(message); g.bytes > maxBytes {
		return fmt.Errorf("it says more than %d bytes about its catalog; serve a smaller one", maxBytes)
	}
	return nil
}

// keep counts objects that stay in memory, by the measure of catalog.Limits. A catalog that keeps much waits until no other one does; release
// is called before.
func (g *gatherer) keep(ctx context.Context, release func(), cost int64) error {
	g.mu.Lock()
	g.kept += cost
	kept := g.kept
	g.mu.Unlock()
	if kept > g.most {
		return &catalog.LimitError{Limit: "MemoryBytes", Value: g.most, Reason: "the catalog takes more memory than the limit"}
	}
	if kept <= smallKept || g.large {
		return nil
	}
	release()
	if err := g.turns.large.begin(ctx); err != nil {
		return err
	}
	g.large = true
	return nil
}

func deprecationCost(d *registry.Deprecation) int64 {
	if d == nil {
		return 0
	}
	return catalog.Footprint(&catalog.Deprecations{Entries: []catalog.Deprecation{{Message: d.GetMessage()}}})
}

func (g *gatherer) addPackage(ctx context.Context, p *registry.Package, release func()) error {
	if len(g.catalog.Packages) == maxPackages {
		return errTooManyPackages
	}
	cost := catalog.Footprint(&catalog.Package{Name: p.GetName(), DefaultChannel: p.GetDefaultChannelName()}) + deprecationCost(p.GetDeprecation())
	for _, channel := range p.GetChannels() {
		c := catalog.Channel{Package: p.GetName(), Name: channel.GetName(), Entries: []catalog.Entry{{Name: channel.GetCsvName()}}}
		cost += catalog.Footprint(&c) + deprecationCost(channel.GetDeprecation())
	}
	if err := errors.Join(g.count(p), g.keep(ctx, release, cost)); err != nil {
		return err
	}
	g.catalog.Packages = append(g.catalog.Packages, catalog.Package{
		Schema: catalog.SchemaPackage, Name: p.GetName(), DefaultChannel: p.GetDefaultChannelName(),
	})
	// Remember the heads of a package. Of the channels that a bundle is the head of, the default channel counts.
	g.heads.defaults[p.GetName()] = p.GetDefaultChannelName()
	for _, channel := range p.GetChannels() {
		key := [2]string{p.GetName(), channel.GetCsvName()}
		if g.heads.channels[key] == "" || channel.GetName() == p.GetDefaultChannelName() {
			g.heads.channels[key] = channel.GetName()
		}
	}
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
func (g *gatherer) addEntry(ctx context.Context, c *Client, b *registry.Bundle, release func()) error {
	if g.entries++; g.entries > maxEntries {
		return fmt.Errorf("it has more than %d entries of channels; serve a smaller catalog", maxEntries)
	}
	_, known := g.channels[[2]string{b.GetPackageName(), b.GetChannelName()}]
	// What stays in memory of an entry: itself, as part of a channel that may be new, and the name and the digest of its bundle.
	e := catalog.Entry{Name: b.GetCsvName(), Replaces: b.GetReplaces(), Skips: b.GetSkips(), SkipRange: b.GetSkipRange()}
	cost := catalog.Footprint(&catalog.Channel{Package: b.GetPackageName(), Name: b.GetChannelName(), Entries: []catalog.Entry{e}}) + deprecationCost(b.GetDeprecation())
	if known { // of a channel, only the entry is new
		cost -= catalog.Footprint(&catalog.Channel{Package: b.GetPackageName(), Name: b.GetChannelName()})
	}
	cost, key := cost, [2]string{b.GetPackageName(), b.GetCsvName()}
	if !g.bundles[key] {
		cost += catalog.Footprint(&catalog.Bundle{Package: b.GetPackageName(), Name: b.GetCsvName()})
	}
	if err := errors.Join(g.count(b), g.keep(ctx, release, cost)); err != nil {
		return err
	}
	channel := g.channel(b.GetPackageName(), b.GetChannelName())
	channel.Entries = append(channel.Entries, catalog.Entry{
		Name: b.GetCsvName(), Replaces: b.GetReplaces(), Skips: b.GetSkips(), SkipRange: b.GetSkipRange(),
	})
	if g.bundles[key] {
		return nil
	}
	g.bundles[key] = true
	bundle, err := bundleOf(b)
	if err != nil {
		return fmt.Errorf("bundle %q of package %q: %w", b.GetCsvName(), b.GetPackageName(), err)
	}
	g.deprecate(b.GetPackageName(), catalog.Reference{Schema: catalog.SchemaBundle, Name: b.GetCsvName()}, b.GetDeprecation())
	release() // describing it takes a turn of its own
	g.heads.describe(ctx, c, bundle, b.GetCsvJson(), g.write)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// write writes a bundle. The icon of a package is kept until the end, if there is room.
func (g *gatherer) write(d described) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if d.icon != nil {
		if cost := catalog.Footprint(&catalog.Package{Icon: d.icon}); g.kept+cost <= g.most {
			g.kept += cost
			g.icons[d.Package] = d.icon
		}
	}
	g.err = errors.Join(g.err, g.out.write(&catalog.Catalog{Bundles: []catalog.Bundle{d.Bundle}}))
}
