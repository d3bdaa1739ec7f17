package version

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestLimits(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"none":                {"", ""},
		"from and to":         {">=1.0.0 <1.2.0", "1.0.0 1.2.0"},
		"in order, each once": {">3.0.0 || <2.0.0 || !=3.0.0", "2.0.0 3.0.0"},
		"a pre-release":       {"<1.0.0-rc.1", "1.0.0-rc.1"},
		"a minor version":     {"1.2.x", "1.2.0 1.3.0 2.0.0 2.2.0"},
		"a major version":     {">=1.x", "1.0.0 1.1.0 2.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			var r Range
			if test.text != "" {
				var err error
				if r, err = ParseRange(test.text); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, v := range r.Limits() {
				got = append(got, v.String())
			}
			must.Equal(t, "list", strings.Join(got, " "), test.want)
		})
	}
}
