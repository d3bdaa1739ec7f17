package catalogsource

import (
	"context"
	"slices"
	"sync"

	"fairlead.dev/fairlead/catalog"
)

// secrets follow the Secrets that catalogs name, so that new credentials are tried at once. Each is watched by its name, and without its
// content: the Secrets of a cluster are many, and none of the business of this controller.
type secrets struct {
	// watch tells of changes of a Secret from now on, until ctx ends; nil watches nothing.
	watch   func(ctx context.Context, namespace, name string, changed func())
	changed func(catalog.Ref)

	mu       sync.Mutex
	followed map[catalog.Ref]*followed
}

// followed are the Secrets of one catalog.
type followed struct {
	names   []string
	cancel  context.CancelFunc
	changes int
}

// follow watches the Secrets of a catalog, and no others any more. It returns a sign that grows when one of them changes.
func (s *secrets) follow(ref catalog.Ref, names []string) int {
	if s == nil || s.watch == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.followed[ref]
	if f != nil && slices.Equal(f.names, names) {
		return f.changes
	}
	before := 0
	if f != nil {
		f.cancel()
		before = f.changes
		delete(s.followed, ref)
	}
	if len(names) == 0 {
		return before
	}
	ctx, cancel := context.WithCancel(context.Background()) // ended by the next call, or by stop
	f = &followed{names: slices.Clone(names), cancel: cancel, changes: before}
	if s.followed == nil {
		s.followed = map[catalog.Ref]*followed{}
	}
	s.followed[ref] = f
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		s.watch(ctx, ref.Namespace, name, func() { // Keep that a Secret has changed, and lets its catalog be reconciled.
			if ctx.Err() != nil {
				return
			}
			s.mu.Lock()
			f.changes++
			s.mu.Unlock()
			if s.changed != nil {
				s.changed(ref)
			}
		})
	}
	return before
}

// stop ends all watches.
func (s *secrets) stop() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for ref, f := range s.followed {
		f.cancel()
		delete(s.followed, ref)
	}
}
