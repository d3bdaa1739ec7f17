package resolution

import (
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"fairlead.dev/fairlead/test/must"
)

// limitScenario has five versions of a package, each of which replaces the one before; the last one also skips the first two.
const limitScenario = `
-- namespace.yaml --
namespace: ns
sources: [{ref: olm/cat, file: cat.yaml}]
subscriptions: [{name: web, package: web, channel: stable, catalog: olm/cat}]
-- cat.yaml --
{schema: olm.package, name: web, defaultChannel: stable}
---
{schema: olm.channel, package: web, name: stable, entries: [{name: web.v1.0.0}, {name: web.v1.1.0, replaces: web.v1.0.0},
  {name: web.v2.0.0, replaces: web.v1.1.0}, {name: web.v2.1.0, replaces: web.v2.0.0, skipRange: "<1.1.0"}]}
---
{schema: olm.bundle, package: web, name: web.v1.0.0, image: "registry.example.com/web:1.0.0", properties: [{type: olm.package, value: {packageName: web, version: 1.0.0}}]}
---
{schema: olm.bundle, package: web, name: web.v1.1.0, image: "registry.example.com/web:1.1.0", properties: [{type: olm.package, value: {packageName: web, version: 1.1.0}}]}
---
{schema: olm.bundle, package: web, name: web.v2.0.0, image: "registry.example.com/web:2.0.0", properties: [{type: olm.package, value: {packageName: web, version: 2.0.0}}]}
---
{schema: olm.bundle, package: web, name: web.v2.1.0, image: "registry.example.com/web:2.1.0", properties: [{type: olm.package, value: {packageName: web, version: 2.1.0}}]}
`

func TestVersionRange(t *testing.T) {
	const key = "operators.fairlead.dev/version-range"
	held := func(wanted, in string) string {
		return wanted + " is available, and annotation " + key + " of Subscription web allows only versions in " + in
	}
	const head = "; the head of channel stable is web.v2.1.0"
	broken := "annotation " + key + ` of Subscription web: version range "below two" is not a range such as ">=1.0.0 <2.0.0": Could not get version from string: "below"`
	tests := map[string]struct {
		allowed, installed, startingCSV string
		install, held, conflict         string
	}{
		"nothing is said":                        {"", "", "", "web.v2.1.0", "", ""},
		"the newest of the range is installed":   {"<2.0.0", "", "", "web.v1.1.0", held("web.v2.1.0", "<2.0.0"), ""},
		"the range has the head":                 {">=2.0.0", "", "", "web.v2.1.0", "", ""},
		"an upgrade within the range":            {"<2.0.0", "web.v1.0.0", "", "web.v1.1.0", held("web.v2.1.0", "<2.0.0"), ""},
		"an upgrade to the end of the range":     {"<2.1.0", "web.v1.1.0", "", "web.v2.0.0", "", ""},
		"at the end of the range":                {"<2.0.0", "web.v1.1.0", "", "", held("web.v2.0.0", "<2.0.0") + head, ""},
		"held at what is installed":              {"1.0.0", "web.v1.0.0", "", "", held("web.v2.1.0", "1.0.0"), ""},
		"what is outside of the range stays":     {"<1.0.0", "web.v2.0.0", "", "", held("web.v2.1.0", "<1.0.0"), ""},
		"at the head nothing is held":            {"<1.0.0", "web.v2.1.0", "", "", "", ""},
		"a range that has nothing to install":    {">=3.0.0", "", "", "", "", "no operators found matching the criteria of subscription web: annotation " + key + " allows only versions in >=3.0.0, and what could be installed, web.v2.1.0, is not one of them"},
		"a starting version out of the range":    {"<2.0.0", "", "web.v2.0.0", "", "", "no operators found matching the criteria of subscription web: annotation " + key + " allows only versions in <2.0.0, and what could be installed, web.v2.0.0, is not one of them"},
		"a starting version in the range":        {"<2.0.0", "", "web.v1.0.0", "web.v1.0.0", "", ""},
		"a broken range, nothing is installed":   {"below two", "", "", "", "", broken},
		"a broken range, something is installed": {"below two", "web.v1.0.0", "", "", broken + "; until it is corrected or taken away nothing is installed or upgraded", ""},
		"a broken range at the head":             {"below two", "web.v2.1.0", "", "", broken + "; until it is corrected or taken away nothing is installed or upgraded", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := scenarioRequest(t, txtar.Parse([]byte(limitScenario[1:])))
			s := &in.Subscriptions[0]
			s.VersionRange, s.Installed, s.StartingCSV = tc.allowed, tc.installed, tc.startingCSV
			if tc.installed != "" {
				in.Operators = []Operator{operator(t, scenarioOperator{Name: tc.installed, Package: "web", Version: tc.installed[len("web.v"):]})}
			}
			result := namespace(t, in)
			g := result.Groups[0]
			install, kept := "", ""
			for _, c := range g.Choices {
				install += c.Bundle.Name
			}
			for _, h := range g.Held {
				kept += h.Reason
				if h.Field != FieldVersionRange || h.Subscription != "web" {
					t.Errorf("what is held names field %q and Subscription %q", h.Field, h.Subscription)
				}
			}
			conflict := ""
			if g.Err != nil {
				conflict = strings.TrimPrefix(g.conflict().Summary, "subscription web cannot be satisfied: ")
			}
			must.Equal(t, "install, held, conflict", []string{install, kept, conflict}, []string{tc.install, tc.held, tc.conflict})
			checkReplay(t, in, result)
		})
	}
}

// TestWhyNotNamesTheRange asks about a version that only the range of the Subscription keeps away.
func TestWhyNotNamesTheRange(t *testing.T) {
	in := scenarioRequest(t, txtar.Parse([]byte(limitScenario[1:])))
	in.Subscriptions[0].VersionRange = "<2.0.0"
	result := namespace(t, in)
	verdicts, err := result.WhyNot(t.Context(), "web", "2.1.0")
	if err != nil || len(verdicts) != 1 {
		t.Fatalf("%d verdicts, %v", len(verdicts), err)
	}
	want := []string{"subscription web: annotation operators.fairlead.dev/version-range allows only versions in <2.0.0"}
	must.Equal(t, "reasons", verdicts[0].Reasons, want)
}
