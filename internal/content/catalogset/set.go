package catalogset

import (
	"cmp"
	"slices"
	"sync"

	"fairlead.dev/fairlead/catalog"
)

// Ref names a catalog by the object that declares it. Cluster-scoped catalogs have no namespace.
type Ref struct {
	Namespace string
	Name      string
}

// String returns "namespace/name", or the bare name of a cluster-scoped catalog.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Compare orders references by namespace, then name.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Namespace, o.Namespace), cmp.Compare(r.Name, o.Name))
}

// Entry is what is known of one catalog. Index is the last good content: it stays when a newer content cannot be had, and is nil
// when there is none, as before it was read and for a spec that cannot be acted on, or while it is Withheld. Problem says why the wanted content is not being served, and is empty when it is.
type Entry struct {
	Index   *catalog.Index
	Problem string
	// Remedy is what to do about the Problem, where that is not to repair the catalog.
	Remedy string
	// Image is the reference that Index was read by, as the object has it in its spec; empty for content of another origin. With the
	// digest of Index it is what a signature on the catalog is found by.
	Image string
	// Withheld says that there is content which the signature policy does not accept now, or has not decided on. Index is nil then.
	Withheld bool
}

// Set is the collection of served catalogs. It is safe for concurrent use; its zero value is not usable, see New.
type Set struct {
	mu        sync.RWMutex
	entries   map[Ref]Entry
	listeners []func(Ref)
}

// New returns an empty set.
func New() *Set {
	return &Set{entries: map[Ref]Entry{}}
}

// OnChange registers a function that is called, outside any lock, after an entry was published or withdrawn. The function must
// not block: controllers put the reference into a queue.
func (s *Set) OnChange(f func(Ref)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, f)
}

// Publish stores the entry and tells the listeners when anything that a reader can see has changed.
func (s *Set) Publish(ref Ref, e Entry) {
	s.mu.Lock()
	old, known := s.entries[ref]
	s.entries[ref] = e
	listeners := s.listeners
	s.mu.Unlock()
	if known && same(old, e) {
		return
	}
	for _, f := range listeners {
		f(ref)
	}
}

// Withdraw forgets a catalog.
func (s *Set) Withdraw(ref Ref) {
	s.mu.Lock()
	_, known := s.entries[ref]
	delete(s.entries, ref)
	listeners := s.listeners
	s.mu.Unlock()
	if !known {
		return
	}
	for _, f := range listeners {
		f(ref)
	}
}

// Get returns the entry of one catalog.
func (s *Set) Get(ref Ref) (Entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, ok := s.entries[ref]
	return e, ok
}

// Digests are those of the contents that are being served, sorted, each once.
func (s *Set) Digests() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var digests []string
	for _, e := range s.entries {
		if e.Index != nil {
			digests = append(digests, e.Index.Digest())
		}
	}
	slices.Sort(digests)
	return slices.Compact(digests)
}

func same(a, b Entry) bool {
	digest := func(e Entry) string {
		if e.Index == nil {
			return ""
		}
		return e.Index.Digest()
	}
	return digest(a) == digest(b) && a.Problem == b.Problem && a.Image == b.Image && a.Withheld == b.Withheld
}
