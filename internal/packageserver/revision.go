package packageserver

import (
	"strconv"
	"sync"
	"time"
)

// revisions counts the changes of what is shown, and wakes those who wait for one.
//
// The count begins at the time of the start in microseconds, so that it goes on rising when the process is started again or another one
// takes over: a client that goes on with what an earlier process told it finds its revision to be an old one, and lists again.
type revisions struct {
	mu      sync.Mutex
	current uint64
	waiting map[chan struct{}]bool
}

func newRevisions(start time.Time) *revisions {
	return &revisions{current: uint64(start.UnixMicro()), waiting: map[chan struct{}]bool{}}
}

// now is the current revision.
func (r *revisions) now() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current
}

// next says that something has changed.
func (r *revisions) next() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current++
	for c := range r.waiting {
		select {
		case c <- struct{}{}:
		default: // it has been woken and did not look yet
		}
	}
}

// subscribe returns a channel that gets something after every change, once for several that come quickly.
func (r *revisions) subscribe() (changed <-chan struct{}, cancel func()) {
	c := make(chan struct{}, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[c] = true
	return c, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waiting, c)
	}
}

func revisionText(revision uint64) string { return strconv.FormatUint(revision, 10) }
