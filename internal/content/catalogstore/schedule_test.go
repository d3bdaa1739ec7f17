package catalogstore

import (
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	last := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	polled := Schedule{Last: last, Interval: time.Hour, Polls: true}
	with := func(change func(*Schedule)) Schedule {
		s := polled
		s.Longest = LongestRetry
		change(&s)
		return s
	}
	for name, test := range map[string]struct {
		of    Schedule
		after time.Duration // the last read; negative is at once
		never bool
	}{
		"the first read is at once": {of: Schedule{Polls: true, Interval: time.Hour}, after: -1},
		"a poll":                    {of: polled, after: time.Hour},
		"without polls nothing newer is looked for":     {of: with(func(s *Schedule) { s.Polls = false }), never: true},
		"what is invalid is not read":                   {of: with(func(s *Schedule) { s.Never, s.News, s.Verify, s.Last = true, true, true, time.Time{} }), never: true},
		"news come before the interval":                 {of: with(func(s *Schedule) { s.News = true }), after: -1},
		"news come before a retry":                      {of: with(func(s *Schedule) { s.News, s.Failed, s.Attempts = true, true, 9 }), after: -1},
		"the first retry":                               {of: with(func(s *Schedule) { s.Failed, s.Attempts = true, 1 }), after: FirstRetry},
		"the third retry":                               {of: with(func(s *Schedule) { s.Failed, s.Attempts = true, 3 }), after: 4 * FirstRetry},
		"the ninth retry":                               {of: with(func(s *Schedule) { s.Failed, s.Attempts = true, 9 }), after: LongestRetry},
		"a retry without polls":                         {of: with(func(s *Schedule) { s.Failed, s.Attempts, s.Polls = true, 1, false }), after: FirstRetry},
		"a local retry":                                 {of: with(func(s *Schedule) { s.Failed, s.Attempts, s.Longest = true, 9, LongestLocalRetry }), after: LongestLocalRetry},
		"another policy":                                {of: with(func(s *Schedule) { s.Verify = true }), after: -1},
		"another policy after a failure":                {of: with(func(s *Schedule) { s.Verify, s.Failed, s.Attempts = true, true, 2 }), after: -1},
		"a failure under the policy":                    {of: with(func(s *Schedule) { s.Verify, s.Failed, s.Tried, s.Attempts = true, true, true, 2 }), after: 2 * FirstRetry},
		"what is refused may be signed":                 {of: with(func(s *Schedule) { s.Failed, s.Refused, s.Attempts = true, true, 1 }), after: time.Hour},
		"what is refused is verified again in any case": {of: with(func(s *Schedule) { s.Failed, s.Refused, s.Polls = true, true, false }), after: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			at, ever := test.of.Next()
			want := last.Add(test.after)
			if test.after < 0 {
				want = time.Time{}
			}
			if ever == test.never || ever && !at.Equal(want) {
				t.Errorf("%s, %t; want %s, %t", at, ever, want, !test.never)
			}
		})
	}
}

// TestSpread: catalogs of the same interval are spread over a part of it, each always by the same amount.
func TestSpread(t *testing.T) {
	last, different := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), map[time.Time]bool{}
	for _, name := range []string{"a", "b", "c", "d"} {
		s := Schedule{Last: last, Interval: time.Hour, Polls: true, Spread: 0.1, Name: name}
		at, _ := s.Next()
		if again, _ := s.Next(); at.Before(last.Add(time.Hour)) || at.After(last.Add(66*time.Minute)) || !again.Equal(at) {
			t.Errorf("%s: %s, then %s", name, at, again)
		}
		different[at] = true
	}
	if len(different) < 2 {
		t.Errorf("all at %v", different)
	}
}
