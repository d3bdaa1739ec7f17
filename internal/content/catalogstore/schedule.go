package catalogstore

import (
	"hash/fnv"
	"time"
)

const (
	// FirstRetry and LongestRetry bound the pauses between attempts to read content that cannot be had. LongestLocalRetry is shorter, for what is
	// missing in the cluster itself: no event reports that it is created, and to ask costs little.
	FirstRetry        = 2 * time.Second
	LongestRetry      = 5 * time.Minute
	LongestLocalRetry = 30 * time.Second
	// MinimumPause keeps a short interval, or a clock that stands still, from becoming a hot loop.
	MinimumPause = time.Second
)

// Schedule is what decides when a catalog is read next.
type Schedule struct {
	// Last is when it was read last; zero is never.
	Last time.Time
	// Never has it not read before something else changes, as when its spec is invalid, and News at once, as when a Secret has changed that it needs.
	Never, News bool
	// Verify has its content verified again, as when the signature policy has changed. Tried is whether the last read was under this policy.
	Verify, Tried bool
	// Failed is whether the last read failed, after so many Attempts in a row. Longest is the longest pause before the next one.
	Failed   bool
	Attempts int
	Longest  time.Duration
	// Refused is whether the signature policy refused the content, which is verified again after the Interval: it may have been signed since.
	Refused bool
	// Interval is the time between two reads, if it Polls for newer content. Spread is a part of it, over which catalogs of the same interval are
	// spread by their Names, each always by the same amount.
	Interval time.Duration
	Polls    bool
	Spread   float64
	Name     string
}

// Next is when the catalog is to be read next: at the zero time when that is now. False means not before something else changes.
func (s Schedule) Next() (time.Time, bool) {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.Name)) // a hash never fails
	interval := s.Interval + time.Duration(float64(s.Interval)*s.Spread*float64(h.Sum32()%1000)/1000)
	retry := s.Last.Add(RetryAfter(s.Attempts, s.Longest))
	switch {
	case s.Never:
		return time.Time{}, false
	case s.Last.IsZero() || s.News:
		return time.Time{}, true
	case s.Verify && s.Failed && s.Tried:
		return retry, true
	case s.Verify:
		return time.Time{}, true
	case s.Refused:
		return s.Last.Add(interval), true
	case s.Failed:
		return retry, true
	}
	return s.Last.Add(interval), s.Polls
}

// RetryAfter is the pause after so many failed attempts in a row: twice as long each time, up to the longest.
func RetryAfter(attempts int, longest time.Duration) time.Duration {
	if attempts > 8 {
		return longest
	}
	return min(FirstRetry<<max(attempts-1, 0), longest)
}
