package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // images have no database of time zones

	"k8s.io/apimachinery/pkg/util/validation"

	"fairlead.dev/fairlead/catalog/safetext"
)

// What one annotation may have: a tenant writes it, and every pass reads it.
const (
	maxText    = 4096 // bytes
	maxEntries = 64   // and as many times of day
)

// text is an annotation that was read.
type text struct {
	windows []window // none is at all times, unless never is set
	always  bool
	never   bool
	freezes []freeze
	rings   []ring
}

// window is open on some days of the week, in spans of the time of day.
type window struct {
	days  [7]bool // by time.Weekday
	spans []span
	zone  *time.Location
}

// span is from one second of a day until before another, which may be on the next day.
type span struct{ from, to int64 }

// freeze holds everything from one day of a zone to another, both included.
type freeze struct {
	first, last int64 // days since 1970
	zone        *time.Location
}

// ring may move from an instant on.
type ring struct {
	name   string
	begins time.Time
}

// word is a part of a text, with where it begins.
type word struct {
	text string
	at   int
}

// failure is an error in a word.
func (w word) failure(format string, args ...any) error {
	return fmt.Errorf("at character %d, %s: %s", w.at+1, safetext.Quote(w.text), fmt.Sprintf(format, args...))
}

// parse reads an annotation: entries separated by semicolons or new lines.
func parse(s string) (*text, error) {
	if len(s) > maxText {
		return nil, fmt.Errorf("it has %d bytes, and may have %d", len(s), maxText)
	}
	entries := split(s)
	switch {
	case len(entries) == 0:
		return nil, errors.New("it is empty: write always to allow upgrades at all times, or remove the annotation")
	case len(entries) > maxEntries:
		return nil, entries[maxEntries][0].failure("there are more than %d entries", maxEntries)
	}
	t, spans := &text{}, 0
	var dated [][]word // freezes and rings, which may take the zone of the windows
	for _, e := range entries {
		var err error
		switch first := strings.ToLower(e[0].text); first {
		case "always", "never":
			if len(e) > 1 {
				return nil, e[1].failure("nothing follows the word %s", first)
			}
			t.always, t.never = t.always || first == "always", t.never || first == "never"
		case "freeze", "ring":
			dated = append(dated, e)
		default:
			var w window
			if w, err = parseWindow(e); err == nil {
				t.windows = append(t.windows, w)
				spans += len(w.spans)
			}
			if spans > maxEntries {
				err = e[0].failure("there are more than %d times of day", maxEntries)
			}
		}
		if err == nil && btoi(t.always)+btoi(t.never)+btoi(len(t.windows) > 0) > 1 {
			err = e[0].failure("a window, always and never exclude each other: keep one of them")
		}
		if err != nil {
			return nil, err
		}
	}
	for _, e := range dated {
		if err := t.parseDated(e); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// split cuts a text into entries of words. Empty entries are left out.
func split(s string) (entries [][]word) {
	var entry []word
	from := -1
	for i := 0; i <= len(s); i++ {
		c := byte(';')
		if i < len(s) {
			c = s[i]
		}
		ends := c == ';' || c == '\n' || c == '\r'
		if !ends && c != ' ' && c != '\t' {
			if from < 0 {
				from = i
			}
			continue
		}
		if from >= 0 {
			entry = append(entry, word{s[from:i], from})
			from = -1
		}
		if ends && len(entry) > 0 {
			entries, entry = append(entries, entry), nil
		}
	}
	return entries
}

// shape is what a window looks like, for errors.
const shape = "a window is days, times and a time zone, such as Mon-Fri 22:00-04:00 Europe/Berlin"

func parseWindow(e []word) (w window, err error) {
	rest := e
	if c := rest[0].text[0]; c >= '0' && c <= '9' {
		w.days = [7]bool{true, true, true, true, true, true, true}
	} else {
		if w.days, err = parseDays(rest[0]); err != nil {
			return w, err
		}
		rest = rest[1:]
	}
	last := e[len(e)-1]
	if len(rest) == 0 {
		return w, last.failure("the times are missing: %s", shape)
	}
	if w.spans, err = parseSpans(rest[0]); err != nil {
		return w, err
	}
	switch rest = rest[1:]; {
	case len(rest) == 0:
		return w, last.failure("the time zone is missing: %s", shape)
	case len(rest) > 1:
		return w, rest[1].failure("nothing follows the time zone: %s; a semicolon begins another entry", shape)
	}
	w.zone, err = parseZone(rest[0])
	return w, err
}

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// parseDays reads daily, or days and ranges of days with commas between them.
func parseDays(w word) (days [7]bool, err error) {
	if strings.EqualFold(w.text, "daily") {
		return [7]bool{true, true, true, true, true, true, true}, nil
	}
	for _, part := range parts(w) {
		first, last, isRange := strings.Cut(part.text, "-")
		from, to := slices.Index(weekdays, strings.ToLower(first)), slices.Index(weekdays, strings.ToLower(last))
		if !isRange {
			to = from
		}
		if from < 0 || to < 0 {
			return days, part.failure("this is no day of the week and no entry: days are Mon, Tue, Wed, Thu, Fri, Sat, Sun, ranges such as Mon-Fri, several with commas, or daily; %s", shape)
		}
		for d := from; ; d = (d + 1) % 7 {
			if days[d] = true; d == to {
				break
			}
		}
	}
	return days, nil
}

// parts are the pieces of a word between commas, each where it begins.
func parts(w word) (all []word) {
	at := w.at
	for piece := range strings.SplitSeq(w.text, ",") {
		all = append(all, word{piece, at})
		at += len(piece) + 1
	}
	return all
}

// daySeconds is how many seconds a day has on a clock that does not change.
const daySeconds = 24 * 60 * 60

// parseSpans reads HH:MM-HH:MM, several with commas. What ends before it begins ends on the next day.
func parseSpans(w word) (all []span, err error) {
	for _, part := range parts(w) {
		begin, end, isSpan := strings.Cut(part.text, "-")
		if !isSpan {
			return nil, part.failure("these are no times: write the begin and the end, such as 22:00-04:00")
		}
		from, err := parseClock(part, begin)
		if err != nil {
			return nil, err
		}
		to, err := parseClock(part, end)
		if err != nil {
			return nil, err
		}
		switch {
		case from == daySeconds:
			return nil, part.failure("nothing begins at 24:00: write 00:00")
		case from == to:
			return nil, part.failure("it ends when it begins: for a whole day write 00:00-24:00")
		case to < from:
			to += daySeconds
		}
		all = append(all, span{from, to})
	}
	return all, nil
}

// parseClock reads HH:MM as seconds of a day.
func parseClock(w word, s string) (int64, error) {
	hours, minutes, _ := strings.Cut(s, ":")
	h, errHours := strconv.ParseUint(hours, 10, 8)
	m, errMinutes := strconv.ParseUint(minutes, 10, 8)
	switch {
	case errHours != nil || errMinutes != nil || len(hours) != 2 || len(minutes) != 2:
		return 0, w.failure("%s is no time of day: write hours and minutes as in 04:30", safetext.Quote(s))
	case h > 24 || m > 59 || h == 24 && m > 0:
		return 0, w.failure("%s is no time of day: the last one is 24:00", safetext.Quote(s))
	}
	return int64(h*60+m) * 60, nil
}

func parseZone(w word) (*time.Location, error) {
	zone, err := time.LoadLocation(w.text)
	if err != nil || strings.EqualFold(w.text, "local") {
		return nil, w.failure("this time zone is not known: write its IANA name, such as Europe/Berlin or UTC")
	}
	return zone, nil
}

// parseDated reads a freeze or a ring. Either may name a time zone of its own.
func (t *text) parseDated(e []word) error {
	kind, last := strings.ToLower(e[0].text), e[len(e)-1]
	rest := e[1:]
	var name string
	if kind == "ring" {
		if len(rest) < 3 || !strings.EqualFold(rest[1].text, "from") {
			return last.failure("a ring has a name and the day from which it may move, such as ring early from 2026-12-01")
		}
		if name = rest[0].text; len(validation.IsValidLabelValue(name)) > 0 {
			return rest[0].failure("this is no name of a ring: clusters have it as value of a label, so it has at most %d letters, digits, '-', '_' and '.', with a letter or digit at each end", validation.LabelValueMaxLength)
		}
		rest = rest[2:]
	}
	if len(rest) == 0 {
		return last.failure("the days are missing: write freeze 2026-12-20..2027-01-03")
	}
	first, end, isRange := strings.Cut(rest[0].text, "..")
	if isRange && kind == "ring" {
		return rest[0].failure("a ring moves from one day on: write a single day")
	}
	if !isRange {
		end = first
	}
	from, err := parseDate(rest[0], first)
	if err != nil {
		return err
	}
	to, err := parseDate(rest[0], end)
	if err != nil {
		return err
	}
	if to.Before(from) {
		return rest[0].failure("it ends before it begins")
	}
	rest = rest[1:]
	clock := int64(0)
	if kind == "ring" && len(rest) > 0 && rest[0].text[0] >= '0' && rest[0].text[0] <= '9' {
		if clock, err = parseClock(rest[0], rest[0].text); err != nil {
			return err
		}
		rest = rest[1:]
	}
	zone, err := t.zoneOf(last, rest)
	if err != nil {
		return err
	}
	if kind == "ring" {
		at := time.Date(from.Year(), from.Month(), from.Day(), 0, 0, int(clock), 0, zone)
		t.rings = append(t.rings, ring{name, at})
		return nil
	}
	t.freezes = append(t.freezes, freeze{from.Unix() / daySeconds, to.Unix() / daySeconds, zone})
	return nil
}

// zoneOf is the time zone that an entry names, or else that of all windows of the annotation.
func (t *text) zoneOf(last word, rest []word) (*time.Location, error) {
	switch {
	case len(rest) > 1:
		return nil, rest[1].failure("nothing follows the time zone; a semicolon begins another entry")
	case len(rest) == 1:
		return parseZone(rest[0])
	case len(t.windows) == 0:
		return nil, last.failure("the time zone is missing: no window of this annotation has one, so name it at the end, such as freeze 2026-12-20..2027-01-03 Europe/Berlin")
	}
	for _, w := range t.windows {
		if w.zone.String() != t.windows[0].zone.String() {
			return nil, last.failure("the time zone is missing: the windows have several, so name one at the end")
		}
	}
	return t.windows[0].zone, nil
}

func parseDate(w word, s string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, s)
	if err != nil || day.Year() < 1970 {
		return day, w.failure("%s is no day: write year, month and day as in 2026-12-20, and two of them as 2026-12-20..2027-01-03", safetext.Quote(s))
	}
	return day, nil
}
