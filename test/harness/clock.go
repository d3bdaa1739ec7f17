package harness

import (
	"sync/atomic"
	"time"

	"k8s.io/utils/clock"
)

// Clock is the time of the computer, which tests can let jump ahead: intervals and deadlines of the API are minutes.
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
