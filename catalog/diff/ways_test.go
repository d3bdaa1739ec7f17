package diff

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// TestSkipRangeLeadsBackToNothing has ranges that contain versions newer than their entries: those are no way on, neither before nor now.
func TestSkipRangeLeadsBackToNothing(t *testing.T) {
	side := func(lines ...string) string {
		text := "schema: olm.package\nname: a\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: a\nname: stable\nentries:\n"
		var bundles string
		for _, line := range lines {
			name, rest, _ := strings.Cut(line, " ")
			text += fmt.Sprintf("- {name: a.v%s%s}\n", name, rest)
			bundles += fmt.Sprintf("---\nschema: olm.bundle\npackage: a\nname: a.v%s\nimage: example.com/a:%s\n"+
				"properties: [{type: olm.package, value: {packageName: a, version: %s}}]\n", name, name, name)
		}
		return text + bundles
	}
	for name, test := range map[string]struct {
		old, now string
		want     []string // parts of what is told, one each; none when no way is lost
	}{
		"the newest version goes, and the range of the new head contains it": {
			side("1.0.0", "2.0.0 , replaces: a.v1.0.0"), side(`1.0.0 , skipRange: "<5.0.0"`),
			[]string{"a.v2.0.0"},
		},
		"a range moves to an older entry": {
			side("1.0.0", `4.0.0 , replaces: a.v1.0.0, skipRange: "<4.0.0"`), side("1.0.0", `2.0.0 , replaces: a.v1.0.0, skipRange: "<4.0.0"`),
			[]string{"a.v4.0.0", "versions such as 2.0.1"},
		},
		"what a range led back to is no loss": {
			side("1.0.0", `2.0.0 , replaces: a.v1.0.0, skipRange: "<=9.0.0"`), side("1.0.0", `2.0.0 , replaces: a.v1.0.0, skipRange: "<2.0.0"`),
			nil,
		},
		"the range shrinks below its entry": {
			side("1.0.0", `4.0.0 , replaces: a.v1.0.0, skipRange: "<4.0.0"`), side("1.0.0", `4.0.0 , replaces: a.v1.0.0, skipRange: "<3.0.0"`),
			[]string{"versions such as 3.0.0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			old, now := load(t, fstest.MapFS{"c.yaml": {Data: []byte(test.old)}}), load(t, fstest.MapFS{"c.yaml": {Data: []byte(test.now)}})
			report := compare(t, old, now)
			var told []string
			for _, c := range lossesOf(report) {
				if text := fmt.Sprintf("%+v", c); strings.Contains(text, "upgrade path lost") {
					told = append(told, text)
				}
			}
			if len(told) != len(test.want) {
				t.Fatalf("told %q, want %q", told, test.want)
			}
			for i := range told {
				if !strings.Contains(told[i], test.want[i]) {
					t.Errorf("told %q, want %q", told[i], test.want[i])
				}
			}
		})
	}
}

func lossesOf(r *Report) (all []Consequence) {
	for _, p := range r.Packages {
		all = append(all, p.Consequences...)
	}
	return all
}
