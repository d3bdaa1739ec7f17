package catalogstore

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
)

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

// Set is the collection of served catalogs. It is safe for concurrent use; its zero value is not usable, see NewSet.
type Set struct {
	mu        sync.RWMutex
	entries   map[catalog.Ref]Entry
	listeners []func(catalog.Ref)
}

// NewSet returns an empty set.
func NewSet() *Set {
	return &Set{entries: map[catalog.Ref]Entry{}}
}

// OnChange registers a function that is called, outside any lock, after an entry was published or withdrawn. The function must
// not block: controllers put the reference into a queue.
func (s *Set) OnChange(f func(catalog.Ref)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, f)
}

// Publish stores the entry and tells the listeners when anything that a reader can see has changed.
func (s *Set) Publish(ref catalog.Ref, e Entry) {
	s.mu.Lock()
	old, known := s.entries[ref]
	s.entries[ref] = e
	listeners := s.listeners
	s.mu.Unlock()
	digest := func(e Entry) string {
		if e.Index == nil {
			return ""
		}
		return e.Index.Digest()
	}
	if known && digest(old) == digest(e) && old.Problem == e.Problem && old.Image == e.Image && old.Withheld == e.Withheld {
		return
	}
	for _, f := range listeners {
		f(ref)
	}
}

// Withdraw forgets a catalog.
func (s *Set) Withdraw(ref catalog.Ref) {
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
func (s *Set) Get(ref catalog.Ref) (Entry, bool) {
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

// maxProblems is how many of the errors in a catalog a status lists.
const maxProblems = 3

// DescribeProblems lists the first errors of a catalog that is served all the same, after what becomes of what they concern, such as "is not
// served", and then the first warnings that concern a cluster; it is empty when there are none. Other warnings are for the catalog's author.
func DescribeProblems(problems catalog.Problems, becomes string) string {
	var parts, errors, warnings []string
	for _, p := range problems {
		switch {
		case p.Severity == catalog.Error:
			errors = append(errors, p.String())
		case p.Severity == catalog.Warning && p.Rule == catalog.RulePackageCapitals:
			warnings = append(warnings, p.String())
		}
	}
	if len(errors) > 0 {
		parts = append(parts, fmt.Sprintf("what these %d errors concern %s", len(errors), becomes), Some(errors))
	}
	if len(warnings) > 0 {
		parts = append(parts, Some(warnings))
	}
	return strings.Join(parts, "; ")
}

// Some joins the first of several texts about a catalog, and says how many more there are.
func Some(texts []string) string { return safetext.List(texts, maxProblems, "; ") }
