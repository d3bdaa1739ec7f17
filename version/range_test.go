package version

import (
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/test/must"
)

func TestRange(t *testing.T) {
	tests := map[string]struct {
		text    string
		in, out []string
	}{
		"exact":             {"1.0.0", []string{"1.0.0", "1.0.0+5"}, []string{"1.0.1", "1.0.0-rc.1"}},
		"equals":            {"=1.0.0", []string{"1.0.0"}, []string{"1.0.1"}},
		"less":              {"<1.0.0", []string{"0.9.9", "1.0.0-rc.1"}, []string{"1.0.0"}},
		"and":               {">=1.0.0 <2.0.0", []string{"1.0.0", "1.9.9", "2.0.0-rc.1"}, []string{"0.9.9", "2.0.0", "1.0.0-rc.1"}},
		"space after marks": {">= 1.0.0  < 2.0.0", []string{"1.0.0"}, []string{"2.0.0"}},
		"not":               {"> 1.0.0 !1.2.1", []string{"1.2.0", "1.2.2"}, []string{"1.0.0", "1.2.1"}},
		"or":                {"<1.0.0 || >2.0.0", []string{"0.1.0", "3.0.0"}, []string{"1.0.0", "2.0.0"}},
		"and before or":     {">1.0.0 <2.0.0 || >3.0.0 !4.2.1", []string{"1.2.3", "3.1.1"}, []string{"2.1.1", "4.2.1"}},
		"wildcard patch":    {"1.2.x", []string{"1.2.0", "1.2.9"}, []string{"1.3.0", "1.1.9"}},
		"wildcard minor":    {">=1.x", []string{"1.0.0", "7.0.0"}, []string{"0.9.9"}},
		"wildcard excluded": {"!=1.2.x", nil, []string{"1.1.0", "1.2.0", "1.3.0"}},
		"pre-release in it": {">=1.0.0-rc.1", []string{"1.0.0-rc.2", "1.0.0"}, []string{"1.0.0-alpha"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := must.Value(ParseRange(test.text))(t)
			if r.IsZero() || r.String() != test.text {
				t.Errorf("zero %v, text %q", r.IsZero(), r)
			}
			checkContains(t, r, test.in, test.out)
		})
	}
}

func checkContains(t *testing.T, set interface{ Contains(semver.Version) bool }, in, out []string) {
	t.Helper()
	for _, text := range in {
		if !set.Contains(semver.MustParse(text)) {
			t.Errorf("%s is not in %v", text, set)
		}
	}
	for _, text := range out {
		if set.Contains(semver.MustParse(text)) {
			t.Errorf("%s is in %v", text, set)
		}
	}
}

func TestParseRangeRefuses(t *testing.T) {
	for _, text := range []string{
		"", "  ", "||", "|| >1.0.0", ">1.0.0 ||", ">1.0.0 || || <2.0.0", ">1.0.0 || 5 || <2.0.0",
		"1", "1.0", "v1.0.0", ">=v1.0.0", "01.0.0", ">=1.0.0,<2.0.0", "^1.0.0", "~1.0.0", ">", "latest",
		">=1.0.0 " + strings.Repeat("!1.0.1 ", maxText),
	} {
		r, err := ParseRange(text)
		if err == nil {
			t.Errorf("ParseRange(%q) accepts it", text)
			continue
		}
		if !r.IsZero() {
			t.Errorf("ParseRange(%q) returns a range and an error", text)
		}
		if len(err.Error()) > 500 {
			t.Errorf("ParseRange(%.20q…): the error has %d bytes", text, len(err.Error()))
		}
	}
}

func TestZeroRange(t *testing.T) {
	var r Range
	if !r.IsZero() || r.Contains(semver.MustParse("1.0.0")) || r.String() != "" {
		t.Error("the zero range is something")
	}
	a, _ := ParseRange(">1.0.0")
	b, _ := ParseRange(">1.0.0")
	if !cmp.Equal(a, b) || cmp.Equal(a, r) {
		t.Error("ranges do not compare by their text")
	}
}

func FuzzParseRange(f *testing.F) {
	for _, text := range []string{">=1.0.0 <2.0.0", "1.x || !1.2.x", "<1.0.0 || >2.0.0 !3.0.0", ">1.0.0 || || <2.0.0", "1", "x", ">=1.x.x"} {
		f.Add(text, "1.2.3")
	}
	f.Fuzz(func(t *testing.T, text, v string) {
		r, err := ParseRange(text)
		if err != nil {
			return
		}
		parsed, err := ParseTolerant(v)
		if err != nil {
			return
		}
		both, err := ParseRange(text + " || =" + parsed.String())
		if err == nil && !both.Contains(parsed) {
			t.Errorf("%s does not contain %s", both, parsed)
		}
		build := parsed
		build.Build = []string{"x"}
		must.Equal(t, "r.Contains(parsed)", r.Contains(parsed), r.Contains(build))
	})
}
