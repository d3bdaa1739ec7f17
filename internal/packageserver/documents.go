package packageserver

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/inorder"
)

// maxPacked bounds what the documents of all catalogs hold in memory, packed. The catalog of all community operators takes 1.4 MB.
const maxPacked = 16 << 20

// documents keeps what catalogs' contents were turned into, by their digest, as long as they are served and there is room.
type documents struct {
	limit int

	mu    sync.Mutex
	packs []*pack // the one used last comes last
}

// pack is the documents of one content, in the order of package names.
type pack struct {
	digest string
	once   sync.Once
	docs   []*document
	err    error
	bytes  int // of what is packed, once it is known
}

// of returns the documents of a content; who comes while they are being made waits for them.
func (c *documents) of(x *catalog.Index) ([]*document, error) {
	p := c.take(x.Digest())
	p.once.Do(func() {
		p.docs, p.err = convertAll(x)
		c.fit(p)
	})
	if p.err != nil {
		c.forget(p)
	}
	return p.docs, p.err
}

func (c *documents) take(digest string) *pack {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.packs, func(p *pack) bool { return p.digest == digest })
	p := &pack{digest: digest}
	if i >= 0 {
		p = c.packs[i]
		c.packs = slices.Delete(c.packs, i, i+1)
	}
	c.packs = append(c.packs, p)
	return p
}

// fit makes room for new documents: contents that were not asked for the longest go. Of a content that is too large for the whole
// cache some documents are made again each time they are asked for.
func (c *documents) fit(p *pack) {
	bytes := 0
	for _, d := range p.docs {
		if bytes+len(d.packed) > c.limit {
			d.packed = nil
		}
		bytes += len(d.packed)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p.bytes = bytes
	total := 0
	for _, other := range c.packs {
		total += other.bytes
	}
	c.packs = slices.DeleteFunc(c.packs, func(other *pack) bool {
		if total <= c.limit || other == p || other.bytes == 0 {
			return false
		}
		total -= other.bytes
		return true
	})
}

// keepOnly forgets what is not served any more.
func (c *documents) keepOnly(digests []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.packs = slices.DeleteFunc(c.packs, func(p *pack) bool { return !slices.Contains(digests, p.digest) })
}

func (c *documents) forget(p *pack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.packs = slices.DeleteFunc(c.packs, func(other *pack) bool { return other == p })
}

// convertAll makes the documents of a content; packages of which nothing can be shown have none.
func convertAll(x *catalog.Index) ([]*document, error) {
	names := x.PackageNames()
	docs := make([]*document, len(names))
	err := inorder.Each(context.Background(), len(names), runtime.GOMAXPROCS(0), func(_ context.Context, i int) (err error) {
		docs[i], err = newDocument(x, names[i])
		return err
	})
	return slices.DeleteFunc(docs, func(d *document) bool { return d == nil }), err
}
