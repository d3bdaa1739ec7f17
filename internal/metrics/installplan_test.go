package metrics

import (
	"slices"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestInstallPlans(t *testing.T) {
	types := []string{"# TYPE install_plan_count gauge", "# TYPE installplan_warnings_total counter"}
	for name, test := range map[string]struct {
		do              func(m *InstallPlans)
		count, warnings string
	}{
		"nothing":                    {func(*InstallPlans) {}, "0", "0"},
		"one, seen twice":            {func(m *InstallPlans) { m.Seen("a", "p"); m.Seen("a", "p") }, "1", "0"},
		"one name in two namespaces": {func(m *InstallPlans) { m.Seen("a", "p"); m.Seen("b", "p") }, "2", "0"},
		"gone":                       {func(m *InstallPlans) { m.Seen("a", "p"); m.Gone("a", "p"); m.Gone("a", "never") }, "0", "0"},
		"warnings outlive the plan":  {func(m *InstallPlans) { m.Seen("a", "p"); m.Warned(); m.Warned(); m.Gone("a", "p") }, "0", "2"},
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
