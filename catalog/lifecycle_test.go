package catalog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/version"

	"github.com/google/go-cmp/cmp"
)

// releaseOf is a version without a release.
func releaseOf(t testing.TB, text string) version.VersionRelease {
	return version.VersionRelease{Version: must.Value(version.Parse(text))(t)}
}

func day(t testing.TB, text string) time.Time { return must.Value(time.Parse(time.DateOnly, text))(t) }

const twoLifecycles = `{"schema":"io.openshift.operators.lifecycles.v1alpha1","package":"p","later":{"field":1},"versions":[
 {"name":"4.18","platformCompatibility":[{"name":"openshift","versions":["4.18"]}],"phases":[
  {"name":"Maintenance","startDate":"2026-01-01","endDate":"2026-12-31"},
  {"name":"Full","startDate":"2025-01-01","endDate":"2025-12-31"},
  {"name":"Extended","startDate":"2027-02-01T12:00:00+02:00","endDate":"2027-06-30"}]},
 {"name":"v4","phases":[{"name":"Open","startDate":"2025-01-01"}]},
 {"name":"4.19.2","phases":[{"name":"Hotfix","endDate":"2026-03-31"}]},
 {"name":"5"}]}`

// TestSupport: the phase of a version at a time, at both ends of each phase, and when that changes next.
func TestSupport(t *testing.T) {
	l := must.Value(ParseLifecycle([]byte(twoLifecycles)))(t)
	extended := time.Date(2027, 2, 1, 10, 0, 0, 0, time.UTC)
	ends := day(t, "2027-07-01")
	for _, c := range []struct {
		version string
		at      time.Time
		want    Support
		text    string
	}{
		{"4.18.7", day(t, "2024-12-31"), Support{SupportNotYet, "Full", ends, day(t, "2025-01-01")}, "not supported yet"},
		{"4.18.7", day(t, "2025-01-01"), Support{Supported, "Full", ends, day(t, "2026-01-01")}, "Full, supported until 2027-06-30"},
		{"4.18.7", day(t, "2026-01-01").Add(-time.Second), Support{Supported, "Full", ends, day(t, "2026-01-01")}, "Full, supported until 2027-06-30"},
		{"4.18.0", day(t, "2026-01-01"), Support{Supported, "Maintenance", ends, day(t, "2027-01-01")}, "Maintenance, supported until 2027-06-30"},
		{"4.18.0", day(t, "2027-01-15"), Support{SupportBetween, "Extended", ends, extended}, "not supported until Extended begins"},
		{"4.18.0", extended, Support{Supported, "Extended", ends, ends}, "Extended, supported until 2027-06-30"},
		{"4.18.0", ends, Support{State: SupportEnded, Phase: "Extended", Ends: ends}, "support ended on 2027-06-30"},
		{"4.7.0", day(t, "2030-01-01"), Support{State: Supported, Phase: "Open"}, "Open"},
		{"4.19.2", day(t, "2026-03-31"), Support{Supported, "Hotfix", day(t, "2026-04-01"), day(t, "2026-04-01")}, "Hotfix, supported until 2026-03-31"},
		{"4.19.3", day(t, "2026-03-31"), Support{State: Supported, Phase: "Open"}, "Open"},
		{"5.0.0", day(t, "2026-03-31"), Support{State: SupportNoData}, "no data"},
		{"6.0.0", day(t, "2026-03-31"), Support{State: SupportNoData}, "no data"},
	} {
		got := l.Support(releaseOf(t, c.version), c.at)
		if diff := cmp.Diff(c.want, got); diff != "" || got.String() != c.text {
			t.Errorf("%s at %s is %q: %s", c.version, c.at, got, diff)
		}
	}
	if got := (Lifecycle{}).Support(releaseOf(t, "1.0.0"), time.Now()); got.State != SupportNoData {
		t.Errorf("a catalog that says nothing: %v", got)
	}
}

// TestLifecycleOfIndex: the same from memory and from an index file; what is of another package, or cannot be read, does not count.
func TestLifecycleOfIndex(t *testing.T) {
	text := soundPackage("p") + soundPackage("q") + "---\n" + twoLifecycles + "\n" +
		"---\n" + `{"schema":"io.openshift.operators.lifecycles.v1alpha1","package":"q","versions":[{"name":"1.0","phases":[{"name":"x","endDate":"soon"}]}]}` + "\n" +
		"---\n" + `{"schema":"io.openshift.operators.lifecycles.v1alpha1","package":"q","versions":[{"name":"1","phases":[{"name":"y"}]}]}` + "\n"
	fsys := fstest.MapFS{"c.yaml": {Data: []byte(text)}}
	c := must.Value(Load(context.Background(), fsys, LoadOptions{}))(t)
	file := must.Value(Build(t.Context(), fsys, "sha256:1", t.TempDir()+"/index", LoadOptions{}))(t)
	defer file.Close()
	for name, x := range map[string]*Index{"memory": must.Value(NewIndex(c, "sha256:1"))(t), "file": file} {
		l := must.Value(x.Lifecycle("p"))(t)
		if got := l.Support(releaseOf(t, "4.18.1"), day(t, "2026-05-05")).Phase; got != "Maintenance" {
			t.Errorf("%s: %q", name, got)
		}
		l, err := x.Lifecycle("q")
		if !errors.Is(err, ErrLifecycle) || !strings.Contains(err.Error(), `package "q"`) || !strings.Contains(err.Error(), `endDate "soon" is no date`) {
			t.Errorf("%s: %v", name, err)
		}
		if got := l.Support(releaseOf(t, "1.0.0"), day(t, "2026-05-05")).Phase; got != "y" {
			t.Errorf("%s: what can be read does not count: %q", name, got)
		}
		if l, err := x.Lifecycle("absent"); err != nil || len(l.Versions) > 0 {
			t.Errorf("%s: %v %v", name, l, err)
		}
	}
	must.NoError(t, file.Close())
	if _, err := file.Lifecycle("p"); err == nil || errors.Is(err, ErrLifecycle) {
		t.Errorf("of a closed index: %v", err)
	}
}

// TestHostileLifecycle: what others write is bounded, and a fault names its place.
func TestHostileLifecycle(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for text, want := range map[string]string{
		`[]`:                                        "the value",
		`{"versions":[{"name":"` + long + `"}]}`:    "versions[0].name: \"xxx",
		`{"versions":[{"name":"1.2.3.4"}]}`:         "is not one to three numbers",
		`{"versions":[{"name":""}]}`:                "is not one to three numbers",
		`{"versions":[{"name":"1","phases":[{}]}]}`: "versions[0].phases[0]: name is empty",
		`{"versions":[{"name":"1","phases":[{"name":"a","startDate":"2026-01-02","endDate":"2026-01-01"}]}]}`: `endDate "2026-01-01" is before startDate "2026-01-02"`,
		`{"versions":[` + strings.Repeat(`{"name":"1"},`, 500) + `{"name":"1"}]}`:                             "versions has 501 items; it may have 500",
		`{"versions":[{"name":"1","phases":[` + strings.Repeat(`{"name":"a"},`, 50) + `{"name":"a"}]}]}`:      "phases has 51 items; it may have 50",
		`{"versions":[{"name":"1","phases":[{"name":"a","startDate":"` + long + `"}]}]}`:                      "is no date such as 2027-06-30",
		`{"versions":[{"name":"1","phases":[{"name":"a","endDate":"0000-01-01"}]}]}`:                          "is no date such as 2027-06-30",
		`{"versions":[{"name":1}]}`: "versions.name",
	} {
		if _, err := ParseLifecycle([]byte(text)); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.100s: %v, want %q", text, err, want)
		}
	}
	l := must.Value(ParseLifecycle([]byte(`{"versions":[{"name":"1","phases":[{"name":"a\u001b[31m` + long + `"}]}]}`)))(t)
	if name := l.Versions[0].Phases[0].Name; strings.Contains(name, "\x1b") || len(name) > 110 {
		t.Errorf("%q", name)
	}
}

// soundPackage is a package with one version, 1.0.0.
func soundPackage(name string) string {
	return strings.ReplaceAll(`---
schema: olm.package
name: PKG
defaultChannel: c
---
schema: olm.channel
package: PKG
name: c
entries: [{name: PKG.v1}]
---
schema: olm.bundle
package: PKG
name: PKG.v1
image: example.com/PKG:1
properties:
- {type: olm.package, value: {packageName: PKG, version: 1.0.0}}
`, "PKG", name)
}

func FuzzParseLifecycle(f *testing.F) {
	f.Add([]byte(twoLifecycles), int64(1780000000))
	f.Fuzz(func(t *testing.T, text []byte, at int64) {
		l, err := ParseLifecycle(text)
		if err != nil {
			return
		}
		for _, v := range []string{"0.0.0", "1.0.0", "4.18.3"} {
			s := l.Support(releaseOf(t, v), time.Unix(at%(1<<35), 0))
			if !s.Changes.IsZero() && !s.Changes.After(time.Unix(at%(1<<35), 0)) {
				t.Errorf("%s changed already: %v", v, s)
			}
			_ = s.String()
		}
	})
}
