package catalogset

import (
	"testing"

	"fairlead.dev/fairlead/catalog"
)

func TestDescribe(t *testing.T) {
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
			if got := Describe(test.problems, "is not served"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
