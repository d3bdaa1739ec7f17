package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

func TestInstallPlans(t *testing.T) {
	types := []string{"# TYPE install_plan_count gauge", "# TYPE installplan_warnings_total counter", "# TYPE fairlead_installplans_requiring_approval gauge", "fairlead_installplans_requiring_approval 0"}
	never := time.Time{}
	for name, test := range map[string]struct {
		do              func(m *InstallPlans)
		count, warnings string
	}{
		"nothing":                    {func(*InstallPlans) {}, "0", "0"},
		"one, seen twice":            {func(m *InstallPlans) { m.Seen("a", "p", never); m.Seen("a", "p", never) }, "1", "0"},
		"one name in two namespaces": {func(m *InstallPlans) { m.Seen("a", "p", never); m.Seen("b", "p", never) }, "2", "0"},
		"gone":                       {func(m *InstallPlans) { m.Seen("a", "p", never); m.Gone("a", "p"); m.Gone("a", "never") }, "0", "0"},
		"warnings outlive the plan":  {func(m *InstallPlans) { m.Seen("a", "p", never); m.Warned(); m.Warned(); m.Gone("a", "p") }, "0", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			m := NewInstallPlans()
			test.do(m)
			want := append([]string{"install_plan_count " + test.count, "installplan_warnings_total " + test.warnings}, types...)
			slices.Sort(want)
			must.Equal(t, "scrape", scrape(t, m), want)
		})
	}
}

// TestInstallPlansThatWait are counted until they are approved or go, and the oldest of them is told.
func TestInstallPlansThatWait(t *testing.T) {
	m := NewInstallPlans()
	says := func(waiting string, oldest ...string) {
		t.Helper()
		var got []string
		for _, line := range scrape(t, m) {
			if strings.HasPrefix(line, "fairlead_installplans") {
				got = append(got, line)
			}
		}
		for i := range oldest {
			oldest[i] = "fairlead_installplans_requiring_approval_oldest_timestamp_seconds " + oldest[i]
		}
		must.Equal(t, "what waits", got, append([]string{"fairlead_installplans_requiring_approval " + waiting}, oldest...))
	}
	says("0")
	m.Seen("a", "p", time.Unix(1000, 0))
	m.Seen("b", "p", time.Unix(500, 0))
	m.Seen("b", "q", time.Time{})
	says("2", "500")
	m.Seen("b", "p", time.Time{}) // approved
	says("1", "1000")
	m.Gone("a", "p")
	says("0")
}
