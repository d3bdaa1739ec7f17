package catalogserver

import (
	"sync"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// Served is a catalog as it is served now.
type Served struct {
	Index *catalog.Index
	// Modified is when this content took the place of another. Two contents of one catalog differ in it by a second at least.
	Modified time.Time
}

// Source is where requests find catalogs. It is asked once a request.
type Source interface {
	// Catalog finds a catalog by its name. The empty name finds the only one.
	Catalog(name string) (Served, bool)
}

// Set is a Source that catalogs are published in. Its zero value is empty and ready; it is safe for concurrent use.
type Set struct {
	// Now tells the time; nil means time.Now.
	Now func() time.Time

	mu       sync.RWMutex
	catalogs map[string]Served
}

// Publish serves an index under a name from now on. It tells whether the content is another than before.
func (s *Set) Publish(name string, index *catalog.Index) bool {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return s.PublishAt(name, index, now())
}

// PublishAt is Publish of content that is said to be from a certain time, by servers that all say the same.
func (s *Set) PublishAt(name string, index *catalog.Index, from time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.catalogs[name]
	modified := from.Truncate(time.Second)
	if ok {
		if old.Index.Digest() == index.Digest() {
			return false
		}
		// HTTP knows whole seconds: without this, a client could take the old content for the new one.
		if earliest := old.Modified.Add(time.Second); modified.Before(earliest) {
			modified = earliest
		}
	}
	if s.catalogs == nil {
		s.catalogs = map[string]Served{}
	}
	s.catalogs[name] = Served{Index: index, Modified: modified}
	return true
}

// Withdraw serves a catalog no more.
func (s *Set) Withdraw(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.catalogs, name)
}

// Catalog finds a catalog by its name, or the only one by the empty name.
func (s *Set) Catalog(name string) (Served, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if name == "" && len(s.catalogs) == 1 {
		for _, only := range s.catalogs {
			return only, true
		}
	}
	served, ok := s.catalogs[name]
	return served, ok
}
