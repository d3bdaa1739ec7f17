package console

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// pending is a login that has begun at a provider. The browser keeps it, sealed, so that those who only begin logins take no memory.
type pending struct {
	State, Nonce, Verifier string
	Host, To               string
	Until                  time.Time
}

// loginTime is how long a login may take.
const loginTime = 10 * time.Minute

// maxUsed is how many finished logins are remembered; they are forgotten when they would have expired anyway.
const maxUsed = 10_000

// errSeal is that a text was not sealed here, or is too old.
var errSeal = errors.New("open the state of a login: it was not made here, or it is too old")

// sealer keeps texts from being read and changed by the browsers that hold them. Its key ends with the process.
type sealer struct {
	clock clock.PassiveClock
	aead  cipher.AEAD

	mu   sync.Mutex
	used map[string]time.Time // by the state, until when
}

func newSealer(c clock.PassiveClock) (*sealer, error) {
	key := secret()
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("make a key for logins: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("make a key for logins: %w", err)
	}
	return &sealer{clock: c, aead: aead, used: map[string]time.Time{}}, nil
}

// seal is a login as a cookie keeps it.
func (s *sealer) seal(p pending) string {
	p.Until = s.clock.Now().Add(loginTime)
	text, err := json.Marshal(p)
	if err != nil {
		panic("texts can be written as JSON: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, nil))
}

// open is the login that a cookie keeps.
func (s *sealer) open(text string) (p pending, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return pending{}, errSeal
	}
	if raw, err = s.aead.Open(nil, nil, raw, nil); err != nil {
		return pending{}, errSeal
	}
	if err := json.Unmarshal(raw, &p); err != nil || !s.clock.Now().Before(p.Until) {
		return pending{}, errSeal
	}
	return p, nil
}

// use reports whether a login is finished for the first time.
func (s *sealer) use(p pending) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if _, ok := s.used[p.State]; ok {
		return false
	}
	if len(s.used) >= maxUsed {
		for state, until := range s.used {
			if !now.Before(until) {
				delete(s.used, state)
			}
		}
		if len(s.used) >= maxUsed { // attempts are bounded to fewer
			return false
		}
	}
	s.used[p.State] = p.Until
	return true
}
