package harness

import (
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// Clock is the time of the computer, which tests can let jump: intervals and deadlines of the API are minutes, and certificates live for years.
type Clock struct {
	clock.RealClock
	ahead atomic.Int64
}

// Now is the time by this clock.
func (c *Clock) Now() time.Time { return c.RealClock.Now().Add(time.Duration(c.ahead.Load())) }

// Since is like that of time, by this clock.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// Jump puts the clock ahead, besides what it is ahead already.
func (c *Clock) Jump(by time.Duration) { c.ahead.Add(int64(by)) }

// Set makes the clock differ from the time of the computer by this much, whatever it was before; it is late where that is negative.
func (c *Clock) Set(ahead time.Duration) { c.ahead.Store(int64(ahead)) }
