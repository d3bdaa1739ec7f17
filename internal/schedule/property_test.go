package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"
)

// oracle reads the clock of a zone, minute by minute, and knows nothing of offsets.
type oracle struct {
	zone        *time.Location
	days        [7]bool
	from, to    int // minutes of the day; to before from is on the next day
	first, last int // of the freeze, as 20261220
}

func (o oracle) open(t time.Time) bool {
	in := t.In(o.zone)
	year, month, day := in.Date()
	minute := in.Hour()*60 + in.Minute()
	if date := year*10000 + int(month)*100 + day; date >= o.first && date <= o.last {
		return false
	}
	today := in.Weekday()
	if o.from < o.to {
		return o.days[today] && minute >= o.from && minute < o.to
	}
	return o.days[today] && minute >= o.from || o.days[(today+6)%7] && minute < o.to
}

// onDays reads weekdays as Go abbreviates them.
func onDays(text string) (days [7]bool) {
	for d := range time.Weekday(7) {
		days[d] = strings.Contains(text, d.String()[:3])
	}
	return days
}

// number makes 20261220 of 2026-12-20.
func number(date string) int {
	var y, m, d int
	if _, err := fmt.Sscanf(date, "%d-%d-%d", &y, &m, &d); err != nil {
		panic(err)
	}
	return y*10000 + m*100 + d
}

// TestTenYears simulates ten years, with -short two of them, in zones that change their clocks: by an hour, by half an hour, at midnight, twice around a month of the moon, and
// never. The schedule opens in no minute in which the oracle is closed, misses none in which it is open, and names each next opening to the second.
func TestTenYears(t *testing.T) {
	years := sweep.Of(2, 10, 10)
	for _, c := range []struct {
		zone       string
		begins     int // the first year; clocks of Sao Paulo have not changed since 2019
		days, span string
		freeze     string
	}{
		{"Europe/Berlin", 2026, "Mon,Tue,Wed,Thu,Fri", "22:00-04:00", "2027-03-20..2027-04-05"},
		{"Europe/Berlin", 2026, "Sun", "01:30-02:30", ""},
		{"Europe/Berlin", 2026, "Sat,Sun", "02:15-02:45", "2027-10-31..2027-10-31"},
		{"America/New_York", 2026, "Sat,Sun", "01:00-03:00", "2026-11-01..2026-11-01"},
		{"Australia/Lord_Howe", 2026, "Sat,Sun", "01:45-02:15", "2027-04-04..2028-04-02"},
		{"Asia/Kolkata", 2026, "Mon,Wed", "00:00-24:00", "2026-12-20..2027-01-03"},
		{"America/Sao_Paulo", 2010, "Sat,Sun", "23:30-00:30", "2011-02-19..2011-02-19"},
		{"Africa/Casablanca", 2026, "Sun", "01:30-03:30", "2027-02-07..2027-03-14"},
	} {
		t.Run(c.zone+" "+c.span, func(t *testing.T) {
			t.Parallel()
			zone := must.Value(time.LoadLocation(c.zone))(t)
			o := oracle{zone: zone, days: onDays(c.days)}
			var h1, m1, h2, m2 int
			must.Value(fmt.Sscanf(c.span, "%d:%d-%d:%d", &h1, &m1, &h2, &m2))(t)
			o.from, o.to = h1*60+m1, h2*60+m2
			value := c.days + " " + c.span + " " + c.zone
			if c.freeze != "" {
				value += "; freeze " + c.freeze
				o.first, o.last = number(c.freeze[:10]), number(c.freeze[12:])
			}
			rules := Read("", layer("Namespace ns", value))
			must.Empty(t, "problems of "+value, rules.Problems())
			begin := time.Date(c.begins, 1, 1, 0, 0, 0, 0, time.UTC)
			agrees(t, rules, o, begin, begin.AddDate(years, 0, 0))
		})
	}
}

// agrees walks through the minutes of some years. At the change from closed to open, and back, the schedule is asked at the seconds around it.
func agrees(t *testing.T, rules Rules, o oracle, begin, end time.Time) {
	t.Helper()
	closedAt, openings := begin, 0 // since when it is closed
	wasOpen := o.open(begin)
	for at := begin.Add(time.Minute); at.Before(end); at = at.Add(time.Minute) {
		isOpen := o.open(at)
		if isOpen == wasOpen {
			continue
		}
		if wasOpen = isOpen; !isOpen {
			last := at.Add(-time.Nanosecond)
			if next, _ := opens(last, rules.gates); !next.Equal(last) {
				t.Fatalf("at %s it is open, and the schedule says %s", last.In(o.zone), next)
			}
			closedAt = at
			continue
		}
		openings++
		if next, _ := opens(at, rules.gates); !next.Equal(at) {
			t.Fatalf("at %s it opens, and the schedule says %s", at.In(o.zone), next)
		}
		half := closedAt.Add(at.Sub(closedAt) / 2)
		for _, before := range []time.Time{closedAt, closedAt.Add(time.Second), half, at.Add(-time.Minute), at.Add(-time.Nanosecond)} {
			if before.Before(closedAt) {
				continue
			}
			if next, _ := opens(before, rules.gates); !next.Equal(at) {
				t.Fatalf("at %s it is closed until %s, and the schedule says %s", before.In(o.zone), at.In(o.zone), next)
			}
		}
	}
	if openings < 50 {
		t.Fatalf("only %d openings: the test sees nothing", openings)
	}
}

// TestAroundChangesOfTheClock asks at every minute of the four days around each change of the clocks, and at random seconds, the schedule and the oracle.
func TestAroundChangesOfTheClock(t *testing.T) {
	for _, c := range []struct {
		zone   string
		begins int
	}{{"Europe/Berlin", 2026}, {"America/New_York", 2026}, {"Australia/Lord_Howe", 2026}, {"America/Sao_Paulo", 2010}, {"Africa/Casablanca", 2026}} {
		t.Run(c.zone, func(t *testing.T) {
			t.Parallel()
			zone := must.Value(time.LoadLocation(c.zone))(t)
			at := time.Date(c.begins, 1, 1, 0, 0, 0, 0, zone)
			changes := 0
			for end := at.AddDate(sweep.Of(1, 2, 10), 0, 0); ; changes++ {
				if _, at = at.ZoneBounds(); at.IsZero() || at.After(end) {
					break
				}
				for _, days := range []string{"Sun,Sat", "Sun", "Mon,Tue,Wed,Thu,Fri,Sat,Sun"} {
					for _, span := range [][2]int{{90, 150}, {1410, 30}, {0, 60}, {105, 135}} {
						o := oracle{zone: zone, days: onDays(days), from: span[0], to: span[1]}
						value := fmt.Sprintf("%s %02d:%02d-%02d:%02d %s", days, span[0]/60, span[0]%60, span[1]/60, span[1]%60, c.zone)
						everyMinute(t, Read("", layer("Namespace ns", value)), o, at, value)
					}
				}
			}
			if changes < 2 {
				t.Fatalf("%d changes of the clock: the test sees nothing", changes)
			}
		})
	}
}

// everyMinute compares the answers from two days before to two days after a change, from the last minute to the first: the next opening is known then.
func everyMinute(t *testing.T, rules Rules, o oracle, change time.Time, value string) {
	t.Helper()
	next := time.Time{}
	for at := change.Add(48 * time.Hour); at.After(change.Add(-48 * time.Hour)); at = at.Add(-time.Minute) {
		isOpen := o.open(at)
		if isOpen {
			next = at
		}
		opening, _ := opens(at, rules.gates)
		switch {
		case isOpen != opening.Equal(at):
			t.Fatalf("%s: at %s open is %t, and the schedule says %s", value, at.In(o.zone), isOpen, opening)
		case !isOpen && !next.IsZero() && !opening.Equal(next):
			t.Fatalf("%s: at %s the next opening is %s, and the schedule says %s", value, at.In(o.zone), next.In(o.zone), opening.In(o.zone))
		}
	}
}

// TestSkippedAndRepeated says what a change of the clock does to a window.
func TestSkippedAndRepeated(t *testing.T) {
	at := func(text string) time.Time { return must.Value(time.Parse(time.RFC3339, text))(t) }
	skipped := Read("", layer("Namespace ns", "Sun 02:15-02:45 Europe/Berlin"))
	must.Equal(t, "a window in the hour that is skipped", judged(at("2026-03-28T12:00:00Z"), skipped), "2026-04-05T00:15:00Z")
	partly := Read("", layer("Namespace ns", "Sun 01:30-03:30 Europe/Berlin"))
	must.Equal(t, "a window around it is open before", judged(at("2026-03-29T00:59:59Z"), partly), "")
	must.Equal(t, "and after it", judged(at("2026-03-29T01:29:59Z"), partly), "")
	must.Equal(t, "until it ends", judged(at("2026-03-29T01:30:00Z"), partly), "2026-04-04T23:30:00Z")
	repeated := Read("", layer("Namespace ns", "Sun 02:15-02:45 Europe/Berlin"))
	must.Equal(t, "a window in the hour that is repeated opens", judged(at("2026-10-25T00:00:00Z"), repeated), "2026-10-25T00:15:00Z")
	must.Equal(t, "and opens again", judged(at("2026-10-25T00:45:00Z"), repeated), "2026-10-25T01:15:00Z")
}
