package console

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/ops/preview"

	"k8s.io/utils/clock"
)

// shelf has what catalogs offer users, for a while: to read it takes longer than a page may, so that pages show what was read before, or that it is
// being read, and follow.
type shelf struct {
	library *preview.Library
	clock   clock.PassiveClock
	changed func(*User) // tells the pages of a user

	mu   sync.Mutex
	kept map[shelfKey]*offer
}

type shelfKey struct {
	user      *User
	namespace string
}

// offer is what a user sees in a namespace.
type offer struct {
	mu      sync.Mutex
	reading chan struct{} // is closed when the reading ends that is under way; nil when none is
	read    time.Time
	answer  preview.Answer
	err     error
}

// Times of an offer.
const (
	// fresh is how long an offer is shown without being read again.
	fresh = 30 * time.Second
	// patience is how long a page waits for a first reading.
	patience = 150 * time.Millisecond
	// readingTime is how long a reading may take, which goes on when the page that asked for it is gone.
	readingTime = 2 * time.Minute
	// retry is how long a failure is shown before the catalogs are read again.
	retry = 5 * time.Second
)

// maxOffers is how many are kept.
const maxOffers = 64

func newShelf(library *preview.Library, c clock.PassiveClock, changed func(*User)) *shelf {
	return &shelf{library: library, clock: c, changed: changed, kept: map[shelfKey]*offer{}}
}

// offers are the packages that a user sees in a namespace. Reading is true while they are read for the first time and that takes longer than a page
// waits; whole waits for them all the same.
func (s *shelf) offers(ctx context.Context, u *User, namespace string, whole bool) (answer preview.Answer, reading bool, err error) {
	o := s.slot(shelfKey{u, namespace})
	o.mu.Lock()
	age := s.clock.Since(o.read)
	if o.reading == nil && (o.read.IsZero() || age > fresh || o.err != nil && age > retry) {
		o.reading = make(chan struct{})
		go s.reads(context.WithoutCancel(ctx), o, u, namespace)
	}
	under, first := o.reading, o.read.IsZero()
	o.mu.Unlock()
	if first {
		wait := time.NewTimer(patience)
		defer wait.Stop()
		limit := wait.C
		if whole {
			limit = nil
		}
		select {
		case <-under:
		case <-limit:
			return preview.Answer{}, true, nil
		case <-ctx.Done():
			return preview.Answer{}, false, ctx.Err()
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.answer, false, o.err
}

// reads reads an offer.
func (s *shelf) reads(ctx context.Context, o *offer, u *User, namespace string) {
	ctx, cancel := context.WithTimeout(ctx, readingTime)
	defer cancel()
	browse := preview.BrowseCluster{Reader: u.client, Servers: u.servers, Library: s.library, Namespace: namespace, Dial: u.dial()}
	answer, err := browse.Both(ctx, "")
	o.mu.Lock()
	o.answer, o.err, o.read = answer, err, s.clock.Now()
	close(o.reading)
	o.reading = nil
	o.mu.Unlock()
	s.changed(u)
}

func (s *shelf) slot(key shelfKey) *offer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.kept[key]; o != nil {
		return o
	}
	if len(s.kept) >= maxOffers { // any will do: it is read again
		for old := range s.kept {
			delete(s.kept, old)
			break
		}
	}
	o := &offer{}
	s.kept[key] = o
	return o
}

// forget drops what is kept for a user who is not there any more. Who comes again with another session is another user.
func (s *shelf) forget(u *User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.kept {
		if key.user == u && u.credential != nil { // the user of a kubeconfig stays
			delete(s.kept, key)
		}
	}
}
