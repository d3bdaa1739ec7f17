package console

import (
	"context"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/ops/preview"

	"k8s.io/utils/clock"
)

// shelf has what catalogs offer users, for a while: to read it takes longer than a page may.
type shelf struct {
	library *preview.Library
	clock   clock.PassiveClock

	mu   sync.Mutex
	kept map[shelfKey]*offer
}

type shelfKey struct {
	user      *User
	namespace string
}

// offer is what a user sees in a namespace.
type offer struct {
	mu     sync.Mutex
	read   time.Time
	answer preview.Answer
	err    error
}

// fresh is how long an offer is shown without being read again.
const fresh = 30 * time.Second

// maxOffers is how many are kept.
const maxOffers = 64

func newShelf(library *preview.Library, c clock.PassiveClock) *shelf {
	return &shelf{library: library, clock: c, kept: map[shelfKey]*offer{}}
}

// offers are the packages that a user sees in a namespace. Two who ask for the same at once share one reading.
func (s *shelf) offers(ctx context.Context, u *User, namespace string) (preview.Answer, error) {
	o := s.slot(shelfKey{u, namespace})
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.read.IsZero() && o.err == nil && s.clock.Since(o.read) < fresh {
		return o.answer, nil
	}
	browse := preview.BrowseCluster{Reader: u.client, Servers: u.servers, Library: s.library, Namespace: namespace, Dial: u.dial()}
	o.answer, o.err = browse.Both(ctx, "")
	o.read = s.clock.Now()
	return o.answer, o.err
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
