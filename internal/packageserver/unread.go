package packageserver

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// Pauses between attempts to read packages that an index could not give.
const (
	firstReading   = 2 * time.Second
	longestReading = 5 * time.Minute
)

// maxPinned bounds the texts of a content, or of a catalog, that cannot be made again. Who has more of them shows less.
const maxPinned = 4 << 20

// unread are the packages that the index of a content could not give, such as when its file is damaged or the disk has errors.
type unread struct {
	names    []string // in order
	attempts int
	next     time.Time
}

// note keeps what could not be read, for another attempt, and tells of it once.
func (c *documents) note(ctx context.Context, p *pack, failed map[string]error) {
	if ctx.Err() != nil {
		return // nothing was found out
	}
	before := len(p.unread.names)
	names := slices.Sorted(maps.Keys(failed))
	c.mu.Lock()
	p.unread.names = names
	p.unread.next = c.clock.Now().Add(min(firstReading<<min(p.unread.attempts, 10), longestReading))
	p.unread.attempts++
	c.mu.Unlock()
	switch {
	case len(names) > 0 && before == 0:
		c.log.Error(failed[names[0]], "packages cannot be read from the index of a catalog; what was known of them is shown, and it is tried again",
			"catalog", p.digest, "packages", len(names), "first", names[0])
	case len(names) == 0 && before > 0:
		c.log.Info("all packages of a catalog can be read again", "catalog", p.digest)
	}
}

// readAgain reads what could not be read, when that is due.
func (c *documents) readAgain(ctx context.Context, p *pack, x *catalog.Index) {
	if len(p.unread.names) == 0 || c.clock.Now().Before(p.unread.next) {
		return
	}
	tried := p.unread.names
	docs, failed := c.convertAll(ctx, p, x, tried)
	if ctx.Err() != nil {
		return
	}
	c.note(ctx, p, failed)
	// Snapshots have the slice: another one takes its place.
	docs = append(docs, slices.DeleteFunc(slices.Clone(p.docs), func(d *document) bool {
		_, again := slices.BinarySearch(tried, d.name)
		return again
	})...)
	slices.SortFunc(docs, func(a, b *document) int { return cmp.Compare(a.name, b.name) })
	c.mu.Lock()
	p.docs = docs
	c.mu.Unlock()
}

// due tells when the next attempt is due; never when everything was read.
func (c *documents) due() <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	pause, ever := time.Duration(0), false
	for _, p := range c.packs {
		if len(p.unread.names) == 0 {
			continue
		}
		if wait := max(p.unread.next.Sub(c.clock.Now()), 0); !ever || wait < pause {
			pause, ever = wait, true
		}
	}
	if !ever {
		return nil
	}
	return time.After(pause)
}

// complete puts packages as they were known before, with their texts, in the places of those that cannot be read. Of some there was none, or
// not all.
func (s *source) complete(unread []string, before *source) {
	if len(unread) == 0 {
		return
	}
	docs := slices.Clone(s.docs)
	for _, name := range unread {
		byName := func(d *document, name string) int { return cmp.Compare(d.name, name) }
		at, ok := slices.BinarySearchFunc(before.docs, name, byName)
		if !ok || before.docs[at].partial {
			continue
		}
		known := before.docs[at]
		if d := known; d.pinned == nil {
			text, err := (&offer{source: before, doc: d}).text()
			if err != nil {
				continue
			}
			known = &document{name: d.name, labels: d.labels, sum: d.sum, size: d.size, check: d.check, pack: d.pack, pinned: text}
		}
		at, partial := slices.BinarySearchFunc(docs, name, byName)
		if partial {
			docs[at] = known
		} else {
			docs = slices.Insert(docs, at, known)
		}
	}
	s.docs = bounded(docs)
}

// bounded leaves out documents with which the pinned texts would be too large.
func bounded(docs []*document) []*document {
	pinned := 0
	return slices.DeleteFunc(docs, func(d *document) bool {
		if d.pinned == nil {
			return false
		}
		pinned += d.pinned.bytes()
		return pinned > maxPinned
	})
}
