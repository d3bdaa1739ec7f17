package version

import (
	"slices"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestParseRelease(t *testing.T) {
	tests := map[string]struct{ text, err string }{
		"none":              {"", ""},
		"number":            {"2", ""},
		"identifiers":       {"1.el9.x-y", ""},
		"longest":           {strings.Repeat("a", 20), ""},
		"too long":          {strings.Repeat("a", 21), "exceeds maximum length of 20 characters"},
		"leading zero":      {"1.02", "segment 1"},
		"empty segment":     {"1..2", "segment 1"},
		"characters":        {"a_b", "segment 0"},
		"very long and cut": {strings.Repeat("a", 1000), strings.Repeat("a", 64) + "…"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := ParseRelease(test.text)
			if test.err == "" {
				if err != nil || r.String() != test.text {
					t.Errorf("ParseRelease(%q) = %q, %v", test.text, r, err)
				}
				return
			}
			must.Fail(t, "ParseRelease", err, test.err)
		})
	}
}

// ordered are versions with releases, from the least to the greatest.
var ordered = []struct{ version, release string }{
	{"0.9.9", ""},
	{"1.0.0-alpha", ""},
	{"1.0.0-alpha.1", ""},
	{"1.0.0-rc.1", ""},
	{"1.0.0", ""},
	{"1.0.0", "1"},
	{"1.0.0", "1.0"},
	{"1.0.0", "2"},
	{"1.0.0", "10"},
	{"1.0.0", "a"},
	{"1.0.0", "a.1"},
	{"1.0.0", "b"},
	{"1.0.1", ""},
	{"1.10.0", ""},
}

func TestCompare(t *testing.T) {
	var all []VersionRelease
	for _, o := range ordered {
		v := must.Value(Parse(o.version))(t)
		r := must.Value(ParseRelease(o.release))(t)
		all = append(all, VersionRelease{v, r})
	}
	for i, a := range all {
		for j, b := range all {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := a.Compare(b); got != want {
				t.Errorf("%s compared with %s: %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestCompareIgnoresBuild(t *testing.T) {
	a, _ := Parse("1.0.0+1")
	b, _ := Parse("1.0.0+2")
	must.Equal(t, "Compare", (VersionRelease{Version: a}).Compare(VersionRelease{Version: b}), 0)
	if slices.Equal(a.Build, b.Build) {
		t.Error("the builds were not read")
	}
}

func TestVersionReleaseText(t *testing.T) {
	tests := map[string]struct{ version, release, text, safe string }{
		"version alone":     {"1.0.0", "", "1.0.0", "1.0.0"},
		"with release":      {"1.0.0", "2.el9", "1.0.0-2.el9", "1.0.0-2.el9"},
		"build and capital": {"1.0.0-RC1+Build.5", "", "1.0.0-RC1+Build.5", "1.0.0-rc1-build.5"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v, _ := Parse(test.version)
			r, _ := ParseRelease(test.release)
			vr := VersionRelease{v, r}
			if vr.String() != test.text || vr.KubernetesSafe() != test.safe {
				t.Errorf("got %q and %q, want %q and %q", vr, vr.KubernetesSafe(), test.text, test.safe)
			}
		})
	}
}

func TestFromBuild(t *testing.T) {
	tests := map[string]struct{ version, want, release string }{
		"no build":      {"1.0.0-rc.1", "1.0.0-rc.1", ""},
		"number":        {"1.0.0+2", "1.0.0", "2"},
		"identifiers":   {"1.0.0+1.el9", "1.0.0", "1.el9"},
		"not a release": {"1.0.0+01", "1.0.0+01", ""},
		"too long":      {"1.0.0+" + strings.Repeat("a", 21), "1.0.0+" + strings.Repeat("a", 21), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := must.Value(Parse(test.version))(t)
			got := FromBuild(v)
			if got.Version.String() != test.want || got.Release.String() != test.release {
				t.Errorf("FromBuild(%s) = version %s, release %q", test.version, got.Version, got.Release)
			}
			must.Equal(t, "v.String()", v.String(), test.version)
		})
	}
}

func FuzzParseRelease(f *testing.F) {
	for _, o := range ordered {
		f.Add(o.release, "1")
	}
	f.Fuzz(func(t *testing.T, x, y string) {
		a, errA := ParseRelease(x)
		b, errB := ParseRelease(y)
		if errA != nil || errB != nil {
			return
		}
		must.Equal(t, "a.String()", a.String(), x)
		if a.Compare(b) != -b.Compare(a) || (a.Compare(b) == 0) != (x == y) {
			t.Errorf("%q compared with %q: %d, the other way round: %d", x, y, a.Compare(b), b.Compare(a))
		}
	})
}
