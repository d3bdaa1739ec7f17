package catalogstore

import (
	"testing"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

func TestListenersHearOfVisibleChangesOnly(t *testing.T) {
	s := NewSet()
	heard := 0
	s.OnChange(func(catalog.Ref) { heard++ })
	a := catalog.Ref{Namespace: "olm", Name: "a"}
	steps := []struct {
		do   func()
		want int
		why  string
	}{
		{func() { s.Publish(a, Entry{}) }, 1, "a new catalog is news"},
		{func() { s.Publish(a, Entry{}) }, 1, "the same entry again is not"},
		{func() { s.Publish(a, Entry{Problem: "registry down"}) }, 2, "a problem is news"},
		{func() { s.Publish(a, Entry{}) }, 3, "its end too"},
		{func() { s.Withdraw(a) }, 4, "withdrawal is news"},
		{func() { s.Withdraw(a) }, 4, "withdrawing what is not there is not"},
	}
	for _, step := range steps {
		step.do()
		if heard != step.want {
			t.Fatalf("%s: heard %d changes, want %d", step.why, heard, step.want)
		}
	}
}

func TestGet(t *testing.T) {
	s := NewSet()
	a := catalog.Ref{Namespace: "a", Name: "y"}
	if _, ok := s.Get(a); ok {
		t.Error("Get finds what was never published")
	}
	s.Publish(a, Entry{Problem: "p"})
	if e, ok := s.Get(a); !ok || e.Problem != "p" {
		t.Errorf("Get gave %+v, %t", e, ok)
	}
}

func TestDescribeProblems(t *testing.T) {
	problem := func(severity catalog.Severity, rule catalog.Rule, message string) catalog.Problem {
		return catalog.Problem{Severity: severity, Rule: rule, Message: message}
	}
	wrong := problem(catalog.Error, catalog.RuleBundleImage, "e")
	capitals := problem(catalog.Warning, catalog.RulePackageCapitals, "w")
	const e, w = "error: e [bundle-image]", "warning: w [package-capitals]"
	for name, test := range map[string]struct {
		problems catalog.Problems
		want     string
	}{
		"nothing":                          {nil, ""},
		"a warning for the author":         {catalog.Problems{problem(catalog.Warning, catalog.RuleSchemaUnknown, "s")}, ""},
		"an error":                         {catalog.Problems{wrong}, "what these 1 errors concern is not served; " + e},
		"more errors than are listed":      {catalog.Problems{wrong, wrong, wrong, wrong, wrong}, "what these 5 errors concern is not served; " + e + "; " + e + "; " + e + "; and 2 more"},
		"a warning that concerns clusters": {catalog.Problems{capitals}, w},
		"both":                             {catalog.Problems{capitals, wrong}, "what these 1 errors concern is not served; " + e + "; " + w},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "describe problems", DescribeProblems(test.problems, "is not served"), test.want)
		})
	}
}
