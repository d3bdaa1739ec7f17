package console

import (
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

// Bounds of attempts to log in. A token cannot be guessed: they spare the API server and the provider those who try.
const (
	attemptsOfOne    = 10               // of one address at once,
	attemptEvery     = 6 * time.Second  // and then one in so much time
	attemptsOfAll    = 50               // of all addresses at once,
	attemptsASecond  = 10               // and then so many a second
	knownAddresses   = 4096             // whose attempts are counted
	attemptRetry     = "6"              // seconds, for Retry-After
	verificationTime = 10 * time.Second // how long the API server or the provider may take to answer
)

// attempts bounds how often clients may try to log in.
type attempts struct {
	clock clock.PassiveClock
	all   *rate.Limiter

	mu        sync.Mutex
	addresses *lru.Cache
}

func newAttempts(c clock.PassiveClock) *attempts {
	return &attempts{clock: c, all: rate.NewLimiter(attemptsASecond, attemptsOfAll), addresses: lru.New(knownAddresses)}
}

// allow counts an attempt of a client, which is an address with its port.
func (a *attempts) allow(remote string) bool {
	now := a.clock.Now()
	return a.of(remote).AllowN(now, 1) && a.all.AllowN(now, 1)
}

func (a *attempts) of(remote string) *rate.Limiter {
	key := any(remote)
	if at, err := netip.ParseAddrPort(remote); err == nil {
		key = at.Addr().Unmap()
		if at.Addr().Is6() && !at.Addr().Is4In6() { // who has one address of IPv6 has all of its network
			key, _ = at.Addr().Prefix(64)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if known, ok := a.addresses.Get(key); ok {
		return known.(*rate.Limiter)
	}
	limiter := rate.NewLimiter(rate.Every(attemptEvery), attemptsOfOne)
	a.addresses.Add(key, limiter)
	return limiter
}
