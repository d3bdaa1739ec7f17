package schedule

import "time"

// A gate is closed at times. from returns the first instant, not before t, at which it is open.
type gate interface {
	from(t time.Time) time.Time
}

// Clocks of a zone run evenly between two changes of its offset. Within such a stretch a time of day is an instant, and exactly one.

// local is what the clocks of a zone show, as seconds since 1970 there, and when their offset changes next; zero is never.
func local(t time.Time, zone *time.Location) (seconds, offset int64, end time.Time) {
	in := t.In(zone)
	_, east := in.Zone()
	_, end = in.ZoneBounds()
	return t.Unix() + int64(east), int64(east), end
}

// floor is a division that rounds down.
func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// weekday is that of a day since 1970, which began on a Thursday.
func weekday(day int64) time.Weekday { return time.Weekday(((day+4)%7 + 7) % 7) }

// from is when the clocks of the zone show a time of the window. A time that the clocks skip is not shown, and one that they repeat is shown twice.
func (w window) from(t time.Time) time.Time {
	for {
		now, offset, end := local(t, w.zone)
		best, found := int64(0), false
		for day := floor(now, daySeconds) - 1; day <= floor(now, daySeconds)+8; day++ {
			if !w.days[weekday(day)] {
				continue
			}
			for _, s := range w.spans {
				if day*daySeconds+s.to <= now {
					continue
				}
				if at := max(day*daySeconds+s.from, now); !found || at < best {
					best, found = at, true
				}
			}
		}
		if best == now {
			return t
		}
		if at := time.Unix(best-offset, 0); end.IsZero() || at.Before(end) {
			return at
		}
		t = end
	}
}

// windows are open when one of them is.
type windows []window

func (all windows) from(t time.Time) time.Time {
	var best time.Time
	for i, w := range all {
		if at := w.from(t); i == 0 || at.Before(best) {
			best = at
		}
	}
	return best
}

// from is when no day of the freeze is shown any more.
func (f freeze) from(t time.Time) time.Time {
	for {
		now, offset, end := local(t, f.zone)
		if day := floor(now, daySeconds); day < f.first || day > f.last {
			return t
		}
		if at := time.Unix((f.last+1)*daySeconds-offset, 0); end.IsZero() || at.Before(end) {
			return at
		}
		t = end
	}
}

// from is when the ring may move.
func (r ring) from(t time.Time) time.Time {
	if t.Before(r.begins) {
		return r.begins
	}
	return t
}

// farAhead is how far the next opening is searched, from where the last freeze ends. Windows repeat every week, and in another relation to each other
// only where clocks change.
const farAhead = 366 * 24 * time.Hour

// opens is the first instant, not before now, at which all gates are open; false where there is none within a year.
func opens(now time.Time, gates []gate) (time.Time, bool) {
	t, limit := now, now.Add(farAhead)
	for {
		before := t
		for _, g := range gates {
			at := g.from(t)
			if _, weekly := g.(windows); !weekly && at.After(t) {
				limit = at.Add(farAhead)
			}
			t = at
		}
		switch {
		case t.Equal(before):
			return t, true
		case t.After(limit):
			return time.Time{}, false
		}
	}
}
