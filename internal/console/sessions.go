package console

import (
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
	maxStreams  = 8 // of a session
	secretSize  = 32
)

// errFull is that there are too many sessions.
var errFull = errors.New("begin a session: there are too many; try again when some have ended")

// session is a browser that was let in. It is in memory alone, and so is what its user proved who they are with.
type session struct {
	user *User
	csrf [secretSize]byte

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
	made := &held{&session{user: user, csrf: secret(), used: s.clock.Now()}, s.clock.Now()}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if len(s.all) >= maxSessions {
		return "", errFull
	}
	id = base64.RawURLEncoding.EncodeToString(raw[:])
	s.all[sha256.Sum256([]byte(id))] = made
	return id, nil
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
		delete(s.all, key)
		return nil
	}
	found.session.mu.Lock()
	defer found.session.mu.Unlock()
	found.used = s.clock.Now()
	return found.session
}

// end ends a session.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, sha256.Sum256([]byte(id)))
}

func (s *sessions) sweep() {
	for key, one := range s.all {
		if s.over(one) {
			delete(s.all, key)
		}
	}
}

func (s *sessions) over(one *held) bool {
	one.session.mu.Lock()
	defer one.session.mu.Unlock()
	now := s.clock.Now()
	return s.idle > 0 && one.streams == 0 && now.Sub(one.used) > s.idle || s.whole > 0 && now.Sub(one.began) > s.whole
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
