package schedule

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestParseRefuses: what cannot be read is refused with the place and what to write.
func TestParseRefuses(t *testing.T) {
	for value, want := range map[string]string{
		"":                                              "it is empty: write always",
		" ; \n ":                                        "it is empty",
		"Mon-Fri":                                       `at character 1, "Mon-Fri": the times are missing`,
		"Mon-Fri 22:00-04:00":                           `at character 9, "22:00-04:00": the time zone is missing`,
		"Mon-Fri 22:00 Europe/Berlin":                   `at character 9, "22:00": these are no times: write the begin and the end`,
		"Mon-Fri 22:00-25:00 Europe/Berlin":             `at character 9, "22:00-25:00": "25:00" is no time of day: the last one is 24:00`,
		"Mon-Fri 22:00-24:01 Europe/Berlin":             `"24:01" is no time of day`,
		"Mon-Fri 24:00-04:00 Europe/Berlin":             "nothing begins at 24:00",
		"Mon-Fri 9:00-10:00 Europe/Berlin":              `"9:00" is no time of day: write hours and minutes as in 04:30`,
		"Mon-Fri 09:00-10:60 Europe/Berlin":             `"10:60" is no time of day`,
		"Mon-Fri 09:00-+1:00 Europe/Berlin":             `"+1:00" is no time of day`,
		"Mon-Fri 09:00-09:00 Europe/Berlin":             "for a whole day write 00:00-24:00",
		"Mon-Fri 09:00-10:00,x Europe/Berlin":           `at character 21, "x": these are no times`,
		"Mon-Fri 09:00-10:00 Europe/Atlantis":           `at character 21, "Europe/Atlantis": this time zone is not known: write its IANA name`,
		"Mon-Fri 09:00-10:00 Local":                     "this time zone is not known",
		"Mon-Fri 09:00-10:00 ../../etc/passwd":          "this time zone is not known",
		"Mon-Fri 09:00-10:00 UTC always":                `at character 25, "always": nothing follows the time zone`,
		"Mon,Tues 09:00-10:00 UTC":                      `at character 5, "Tues": this is no day of the week and no entry`,
		"freez 2026-12-20":                              `at character 1, "freez": this is no day of the week and no entry`,
		"always; Mon 09:00-10:00 UTC":                   `at character 9, "Mon": a window, always and never exclude each other`,
		"never; always":                                 `at character 8, "always": a window, always and never exclude each other`,
		"always UTC":                                    `at character 8, "UTC": nothing follows the word always`,
		"freeze":                                        "the days are missing",
		"freeze 2026-12-20..2027-01-03":                 "the time zone is missing: no window of this annotation has one",
		"freeze 2027-01-03..2026-12-20 UTC":             "it ends before it begins",
		"freeze 2026-02-30 UTC":                         `at character 8, "2026-02-30": "2026-02-30" is no day`,
		"freeze 20.12.2026 UTC":                         `"20.12.2026" is no day: write year, month and day`,
		"freeze 2026-12-20..2027-01-03..2027-02-01 UTC": "is no day",
		"freeze 2026-12-20 UTC UTC":                     "nothing follows the time zone",
		"daily 01:00-02:00 UTC; freeze 2026-12-20 Mars": `at character 42, "Mars": this time zone is not known`,
		"Mon 01:00-02:00 UTC; Tue 01:00-02:00 Asia/Tokyo; freeze 2026-12-20": "the windows have several, so name one at the end",
		"ring early":                         "a ring has a name and the day from which it may move",
		"ring early from":                    "a ring has a name and the day",
		"ring ear\x00ly from 2026-12-01 UTC": `at character 6, "ear\x00ly": this is no name of a ring`,
		"ring -early from 2026-12-01 UTC":    "with a letter or digit at each end",
		"ring " + strings.Repeat("x", 64) + " from 2026-12-01 UTC":      "it has at most 63 letters",
		"ring early at 2026-12-01 UTC":                                  "a ring has a name and the day",
		"ring early from 2026-12-01..2026-12-03":                        "a ring moves from one day on",
		"ring early from 2026-12-01 9:00 UTC":                           `"9:00" is no time of day`,
		"ring early from 2026-12-01":                                    "the time zone is missing",
		strings.Repeat("always;", 65):                                   "there are more than 64 entries",
		strings.Repeat("x", 4097):                                       "it has 4097 bytes, and may have 4096",
		"Mon " + strings.Repeat("01:00-02:00,", 64) + "03:00-04:00 UTC": "there are more than 64 times of day",
	} {
		_, err := parse(value)
		must.Fail(t, "parse "+value, err, want)
	}
}

func TestParseReads(t *testing.T) {
	for value, want := range map[string][3]int{ // windows, freezes, rings
		"Mon-Fri 22:00-04:00 Europe/Berlin; freeze 2026-12-20..2027-01-03": {1, 1, 0},
		"22:00-04:00 UTC":                                       {1, 0, 0},
		"daily 00:00-24:00 UTC":                                 {1, 0, 0},
		"sat,SUN 02:00-04:00,22:00-23:30 Asia/Kolkata;":         {1, 0, 0},
		"Fri-Mon 02:00-04:00 UTC\nTue 01:00-02:00 Asia/Tokyo\n": {2, 0, 0},
		"always; freeze 2026-12-24 UTC":                         {0, 1, 0},
		"never":                                                 {0, 0, 0},
		"FREEZE 2026-12-24 UTC ; ring early FROM 2026-12-01 09:00 Europe/Berlin; ring rest from 2026-12-08 UTC": {0, 1, 2},
	} {
		got, err := parse(value)
		must.NoErrorf(t, err, "parse %q", value)
		must.Equal(t, value, [3]int{len(got.windows), len(got.freezes), len(got.rings)}, want)
	}
	got, err := parse("Fri-Mon 02:00-04:00 UTC")
	must.NoError(t, err)
	must.Equal(t, "days from Friday to Monday", got.windows[0].days, [7]bool{true, true, false, false, false, true, true})
}

// FuzzParse: no text makes the reading or the next opening fail otherwise than with an error.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"Mon-Fri 22:00-04:00 Europe/Berlin; freeze 2026-12-20..2027-01-03", "always", "ring a from 2026-12-01 09:00 UTC", "ring \x00 from 2026-12-01 09:00 UTC", "daily 01:00-02:00,03:00-04:00 UTC\nfreeze 1970-01-01..9999-12-31"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		held := Judge(now, Upgrade{Object: "Subscription a", Bundle: "a.v1.0.0", Rules: Read("a", Layer{"Namespace ns", map[string]string{WindowKey: s}})})
		if held != nil && (!IsMessage(held.Message) || !held.Until.IsZero() && !held.Until.After(now) || strings.ContainsAny(held.Message, "\n\r\x00")) {
			t.Errorf("%+v", held)
		}
	})
}
