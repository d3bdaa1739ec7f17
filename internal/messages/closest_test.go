package messages

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

func TestClosest(t *testing.T) {
	names := []string{"candidate", "stable", "stable-1.2", "alpha", "v1"}
	for name, tc := range map[string]struct{ wanted, want string }{
		"exchanged letters":        {"stabel", "stable"},
		"one that is missing":      {"stble", "stable"},
		"one too many":             {"allpha", "alpha"},
		"a part":                   {"candid", "candidate"},
		"more than there is":       {"alpha-2", "alpha"},
		"nothing like it":          {"nightly", ""},
		"too short to mean one":    {"v2", ""},
		"too long to be a mistake": {strings.Repeat("stabel", 20), ""},
		"nothing":                  {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "closest", Closest(tc.wanted, names), tc.want)
			suggestion := ""
			if tc.want != "" {
				suggestion = "; did you mean " + tc.want + "?"
			}
			must.Equal(t, "suggestion", DidYouMean(tc.wanted, names), suggestion)
		})
	}
}
