package packageserver

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"

	"fairlead.dev/fairlead/catalog"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
)

// maxPacked bounds what the texts of all documents hold in memory, packed. The catalog of all community operators takes a third of it.
const maxPacked = 16 << 20

// documents are what the contents of catalogs were turned into, by their digest, for as long as they are shown.
type documents struct {
	limit int
	log   logr.Logger
	clock clock.PassiveClock

	mu    sync.Mutex
	packs []*pack // the one used last comes last
	bytes int     // of all texts
}

// pack is the documents of one content, in the order of package names.
type pack struct {
	cache  *documents
	digest string
	docs   []*document
	bytes  int // of the texts that are held
	gone   bool
	unread unread
}

// of returns the documents of a content, and the names of those that are not all that the content says. It is not called by two at a time.
func (c *documents) of(ctx context.Context, x *catalog.Index) (docs []*document, unread []string) {
	c.mu.Lock()
	i := slices.IndexFunc(c.packs, func(p *pack) bool { return p.digest == x.Digest() })
	if i >= 0 {
		p := c.packs[i]
		c.mu.Unlock()
		c.readAgain(ctx, p, x)
		return p.docs, p.unread.names
	}
	p := &pack{cache: c, digest: x.Digest()}
	c.packs = append(c.packs, p)
	c.mu.Unlock()
	docs, failed := c.convertAll(ctx, p, x, x.PackageNames())
	c.mu.Lock()
	p.docs = docs
	c.mu.Unlock()
	c.note(ctx, p, failed)
	if ctx.Err() != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.empty(p)
		p.gone = true
		c.packs = slices.DeleteFunc(c.packs, func(other *pack) bool { return other == p })
	}
	return docs, p.unread.names
}

// convertAll makes the documents of packages of a content, and returns why some cannot be read. Packages of which nothing can be shown have none.
func (c *documents) convertAll(ctx context.Context, p *pack, x *catalog.Index, names []string) ([]*document, map[string]error) {
	docs := make([]*document, len(names))
	errs := make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(max(1, runtime.GOMAXPROCS(0)/2))
	for i, name := range names {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			d, text, err := convert(x, name)
			if d != nil {
				d.pack = p
			}
			switch {
			case errors.As(err, &unreadVersion{}):
				errs[i] = err
				if d != nil {
					d.pinned, d.partial, docs[i] = text, true, d
				}
			case err != nil:
				c.log.Error(err, "a package is not shown; report it with its catalog", "package", name, "catalog", x.Digest())
			case d != nil:
				docs[i] = d
				c.keep(d, text)
			}
			return nil
		})
	}
	_ = group.Wait() // what failed is in errs
	failed := map[string]error{}
	for i, err := range errs {
		if err != nil {
			failed[names[i]] = err
		}
	}
	return bounded(slices.DeleteFunc(docs, func(d *document) bool { return d == nil })), failed
}

// convert makes a document, and survives what no catalog should be able to bring about: one odd package must not hide all others.
func convert(x *catalog.Index, name string) (d *document, p *packed, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("describe package %s: %v\n%s", name, cause, debug.Stack())
		}
	}()
	return newDocument(x, name)
}

// keep holds the text of a document, where there is room or other contents were not asked for as long.
func (c *documents) keep(d *document, text *packed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.pack.gone || d.pack.bytes+text.bytes() > c.limit || !d.held.CompareAndSwap(nil, text) {
		return
	}
	d.pack.bytes += text.bytes()
	c.bytes += text.bytes()
	for _, other := range c.packs {
		if c.bytes <= c.limit {
			return
		}
		if other != d.pack && other.docs != nil { // one that is still being made is not asked for yet
			c.empty(other)
		}
	}
}

// use says that the texts of contents are asked for.
func (c *documents) use(offers []offer) {
	used := map[*pack]bool{}
	for i := range offers {
		used[offers[i].doc.pack] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	slices.SortStableFunc(c.packs, func(a, b *pack) int {
		switch {
		case used[a] == used[b]:
			return 0
		case used[b]:
			return -1
		}
		return 1
	})
}

// release forgets contents that are neither in the present nor in the snapshot before it, which watches still tell of.
func (c *documents) release(shown ...*snapshot) {
	needed := map[string]bool{}
	for _, s := range shown {
		for i := range s.sources {
			needed[s.sources[i].digest] = true
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.packs = slices.DeleteFunc(c.packs, func(p *pack) bool {
		if !needed[p.digest] {
			c.empty(p)
			p.gone = true
		}
		return !needed[p.digest]
	})
}

// empty lets go of the texts of a content.
func (c *documents) empty(p *pack) {
	for _, d := range p.docs {
		d.held.Store(nil)
	}
	c.bytes -= p.bytes
	p.bytes = 0
}
