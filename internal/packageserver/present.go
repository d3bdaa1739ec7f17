package packageserver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/utils/clock"

	"fairlead.dev/fairlead/catalog"
)

// Bounds of what is kept of the past, for watches that begin there: how many snapshots, and how many documents they may have that the
// present has not. Without its text a document takes about a kilobyte.
const (
	maxPast          = 64
	maxPastDocuments = 8192
)

// present is what is shown now, and what was shown shortly before. Requests are answered from it and never from the cluster or from
// catalogs, which change at any time: what a list has told and what a watch tells afterwards would not fit together.
type present struct {
	cluster  Cluster
	contents Contents
	docs     *documents
	clock    clock.PassiveClock

	making sync.Mutex // held while a snapshot is made

	mu      sync.Mutex
	current *snapshot
	before  []*snapshot   // the latest comes last
	next    chan struct{} // closed when current is replaced
}

func newPresent(c Config) *present {
	nothing := newSnapshot(nil, nil)
	nothing.revision = newRevision(0, c.Clock.Now(), nothing.print)
	return &present{cluster: c.Cluster, contents: c.Contents, clock: c.Clock, current: nothing, next: make(chan struct{}),
		docs: &documents{log: c.Log, limit: maxPacked, clock: c.Clock}}
}

// now is what is shown now.
func (p *present) now() *snapshot {
	s, _ := p.follow()
	return s
}

// follow returns what is shown now, and what is closed once that has changed.
func (p *present) follow() (*snapshot, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current, p.next
}

// at is what was shown at a revision, nil when that is not known. A revision of another process counts when the same was shown here.
func (p *present) at(revision uint64) *snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current.revision == revision {
		return p.current
	}
	for _, s := range slices.Backward(p.before) {
		if s.revision == revision {
			return s
		}
	}
	if p.current.revision&contentMask == revision&contentMask {
		if revision > p.current.revision && revision>>contentBits <= tick(p.clock.Now().Add(maxAhead)) {
			ahead := *p.current // the other process is a little ahead: clients must not see revisions fall
			ahead.revision, p.current = revision, &ahead
		}
		return p.current
	}
	for _, s := range slices.Backward(p.before) {
		if s.revision&contentMask == revision&contentMask {
			return s
		}
	}
	return nil
}

// refresh checks everything. Until it is done, which takes a while for a new catalog, requests are answered from what was there before.
func (p *present) refresh(ctx context.Context) error {
	p.making.Lock()
	defer p.making.Unlock()
	fresh, err := p.look(ctx)
	if err != nil {
		return fmt.Errorf("read what catalogs offer: %w", err)
	}
	p.replace(fresh)
	return nil
}

// look makes a snapshot.
func (p *present) look(ctx context.Context) (*snapshot, error) {
	alone, err := p.cluster.WithoutGlobal(ctx)
	if err != nil {
		return nil, fmt.Errorf("find out which namespaces do without global catalogs: %w", err)
	}
	declared, err := p.cluster.CatalogSources(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the CatalogSources: %w", err)
	}
	var sources []source
	for i := range declared {
		entry, _ := p.contents.Get(catalog.Ref{Namespace: declared[i].Namespace, Name: declared[i].Name})
		if entry.Index == nil {
			continue // there never was any content
		}
		sources = append(sources, source{CatalogSource: &declared[i], digest: entry.Index.Digest(), index: entry.Index})
	}
	slices.SortFunc(sources, func(a, b source) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	before := p.now()
	for i := range sources {
		var unread []string
		s := &sources[i]
		s.docs, unread = p.docs.of(ctx, s.index)
		// A catalog that was deleted and created again is another one.
		at := slices.IndexFunc(before.sources, func(o source) bool { return o.Namespace == s.Namespace && o.Name == s.Name && o.UID == s.UID })
		if at >= 0 {
			s.complete(unread, &before.sources[at])
		}
	}
	return newSnapshot(sources, alone), ctx.Err()
}

// replace makes a snapshot the present one, unless it shows the same: then no one is told, only what it is read from is exchanged.
func (p *present) replace(fresh *snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.current
	if fresh.print == old.print {
		fresh.revision, p.current = old.revision, fresh
		return
	}
	fresh.revision = newRevision(old.revision, p.clock.Now(), fresh.print)
	p.before = append(p.before, old.past())
	// Bound the past
	all := map[string]bool{}
	for i := range fresh.sources {
		all[fresh.sources[i].digest] = true
	}
	known, others := all, 0
	keep := len(p.before)
	for keep > 0 && len(p.before)-keep < maxPast {
		for i := range p.before[keep-1].sources {
			if from := &p.before[keep-1].sources[i]; !known[from.digest] {
				known[from.digest] = true
				others += len(from.docs)
			}
		}
		if others > maxPastDocuments && keep < len(p.before) {
			break
		}
		keep--
	}
	p.before = slices.Delete(p.before, 0, keep)
	p.current = fresh
	close(p.next)
	p.next = make(chan struct{})
	p.docs.release(fresh, old)
}
