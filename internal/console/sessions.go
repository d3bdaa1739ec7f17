package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Bounds of sessions.
const (
	maxSessions = 1000
	maxOfUser   = 20 // sessions of one user of a cluster; another one ends the oldest
	maxStreams  = 8  // of a session
	secretSize  = 32
	sweepEvery  = time.Minute
)

// errFull is that there are too many sessions.
var errFull = errors.New("begin a session: there are too many; try again when some have ended")

// session is a browser that was let in. It is in memory alone, and so is what its user proved who they are with.
type session struct {
	user *User
	csrf [secretSize]byte

	ended chan struct{} // is closed when the session ends; nil for a program, which has none

	mu      sync.Mutex
	used    time.Time
	streams int
	notice  string // is shown once, on the next page

	jobs jobs
}

// sessions are those who are there, by the digest of what their cookies say: who could read this map could not act as them.
type sessions struct {
	clock clock.PassiveClock
	// idle is how long a session lasts unused, and whole how long at most; 0 is for as long as the console runs.
	idle, whole time.Duration

	// forgotten is called with the user of each session that has ended; nil calls nothing.
	forgotten func(*User)

	mu  sync.Mutex
	all map[[sha256.Size]byte]*held
}

type held struct {
	*session
	began time.Time
}

func newSessions(c clock.PassiveClock, idle, whole time.Duration) *sessions {
	return &sessions{clock: c, idle: idle, whole: whole, all: map[[sha256.Size]byte]*held{}}
}

// begin makes a session, and returns what its cookie is to say.
func (s *sessions) begin(user *User) (id string, err error) {
	raw := secret()
	made := &held{&session{user: user, csrf: secret(), ended: make(chan struct{}), used: s.clock.Now()}, s.clock.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	s.makeRoom(user)
	if len(s.all) >= maxSessions {
		return "", errFull
	}
	id = base64.RawURLEncoding.EncodeToString(raw[:])
	s.all[sha256.Sum256([]byte(id))] = made
	return id, nil
}

// makeRoom ends the oldest session of a user who has as many as one may have: no one shuts others out.
func (s *sessions) makeRoom(user *User) {
	if user.credential == nil {
		return
	}
	n, oldest := 0, [sha256.Size]byte{}
	for key, one := range s.all {
		if one.user.Name != user.Name {
			continue
		}
		if n == 0 || one.began.Before(s.all[oldest].began) {
			oldest = key
		}
		n++
	}
	if n >= maxOfUser {
		s.drop(oldest, s.all[oldest])
	}
}

// get is the session of a cookie; nil when it is over, or never was.
func (s *sessions) get(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(id))
	found := s.all[key]
	if found == nil {
		return nil
	}
	if s.over(found) {
		s.drop(key, found)
		return nil
	}
	found.session.mu.Lock()
	defer found.session.mu.Unlock()
	found.used = s.clock.Now()
	return found.session
}

// end ends a session: what its user has proved who they are with is forgotten.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := sha256.Sum256([]byte(id))
	if found := s.all[key]; found != nil {
		s.drop(key, found)
	}
}

// finish is end for who has the session and not its cookie.
func (s *sessions) finish(ended *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, one := range s.all {
		if one.session == ended {
			s.drop(key, one)
		}
	}
}

// alive reports whether a session lasts.
func (s *sessions) alive(one *session) bool {
	select {
	case <-one.ended:
		return false
	default:
		return !one.user.ended(s.clock.Now())
	}
}

func (s *sessions) sweep() {
	for key, one := range s.all {
		if s.over(one) {
			s.drop(key, one)
		}
	}
}

// drop removes a session that is over.
func (s *sessions) drop(key [sha256.Size]byte, one *held) {
	delete(s.all, key)
	close(one.ended)
	one.user.forget(errLoggedOut)
	if s.forgotten != nil {
		s.forgotten(one.user)
	}
}

func (s *sessions) over(one *held) bool {
	one.session.mu.Lock()
	defer one.session.mu.Unlock()
	now := s.clock.Now()
	return s.idle > 0 && one.streams == 0 && now.Sub(one.used) > s.idle || s.whole > 0 && now.Sub(one.began) > s.whole || one.user.ended(now)
}

// sweeps removes sessions that are over, until the context ends: what their users have proved who they are with must not stay until someone else comes.
func (s *sessions) sweeps(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			s.mu.Lock()
			s.sweep()
			s.mu.Unlock()
		}
	}
}

// stream counts a stream of the session, until done is called; false is that it has too many.
func (s *session) stream() (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams >= maxStreams {
		return nil, false
	}
	s.streams++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.streams--
	}, true
}

// say is shown on the next page.
func (s *session) say(notice string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notice = notice
}

// said is what is to be shown, once.
func (s *session) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	notice := s.notice
	s.notice = ""
	return notice
}

// formToken is what the forms of a page carry. It is another text on every page, so that the length of a compressed page tells nothing about it.
func (s *session) formToken() string {
	mask := secret()
	out := make([]byte, 0, 2*secretSize)
	out = append(out, mask[:]...)
	for i, b := range s.csrf {
		out = append(out, b^mask[i])
	}
	return base64.RawURLEncoding.EncodeToString(out)
}

// made reports whether a form is of a page of this session.
func (s *session) made(token string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) != 2*secretSize {
		return false
	}
	for i := range secretSize {
		raw[secretSize+i] ^= raw[i]
	}
	return subtle.ConstantTimeCompare(raw[secretSize:], s.csrf[:]) == 1
}

func secret() (out [secretSize]byte) {
	rand.Read(out[:]) // which never fails
	return out
}
