package console

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// later has values that take longer to read than a page may: pages show what was read before, or that it is being read, and follow.
type later[K comparable, V any] struct {
	clock clock.PassiveClock
	read  func(ctx context.Context, key K) (V, error)
	done  func(key K) // tells the pages that show it

	mu   sync.Mutex
	kept map[K]*delayed[V]
}

// delayed is a value, and whether it is being read.
type delayed[V any] struct {
	mu      sync.Mutex
	under   chan struct{} // is closed when the reading ends that is under way; nil when none is
	at      time.Time
	version string
	value   V
	err     error
}

// get is a value. Reading is true while it is read for the first time and that takes longer than a page waits; whole waits for it all the same. One that
// was read for another version of what it is about is shown until the new one is there.
func (l *later[K, V]) get(ctx context.Context, key K, version string, whole bool) (value V, reading bool, err error) {
	r := l.slot(key)
	r.mu.Lock()
	age := l.clock.Since(r.at)
	if r.under == nil && (r.at.IsZero() || age > fresh || r.version != version || r.err != nil && age > retry) {
		r.under = make(chan struct{})
		go l.reads(context.WithoutCancel(ctx), r, key, version)
	}
	under, first := r.under, r.at.IsZero()
	r.mu.Unlock()
	if under != nil && (first || whole) {
		wait := time.NewTimer(patience)
		defer wait.Stop()
		limit := wait.C
		if whole {
			limit = nil
		}
		select {
		case <-under:
		case <-limit:
			return value, true, nil
		case <-ctx.Done():
			return value, false, ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.value, false, r.err
}

func (l *later[K, V]) reads(ctx context.Context, r *delayed[V], key K, version string) {
	ctx, cancel := context.WithTimeout(ctx, readingTime)
	defer cancel()
	value, err := l.read(ctx, key)
	r.mu.Lock()
	r.value, r.err, r.version, r.at = value, err, version, l.clock.Now()
	close(r.under)
	r.under = nil
	r.mu.Unlock()
	l.done(key)
}

func (l *later[K, V]) slot(key K) *delayed[V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = map[K]*delayed[V]{}
	}
	if r := l.kept[key]; r != nil {
		return r
	}
	if len(l.kept) >= maxOffers { // any will do: it is read again
		for old := range l.kept {
			delete(l.kept, old)
			break
		}
	}
	r := &delayed[V]{}
	l.kept[key] = r
	return r
}
