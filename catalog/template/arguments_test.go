package template

import (
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	tests := map[string]struct {
		args string
		kind Type
		file string
		err  string
	}{
		"none":                  {"", "", "-", ""},
		"a type":                {"semver", Semver, "-", ""},
		"a file":                {"semver.yaml", "", "semver.yaml", ""},
		"both":                  {"basic t.yaml", Basic, "t.yaml", ""},
		"a type, and the input": {"basic -", Basic, "-", ""},
		"no such type":          {"nonsense t.yaml", "", "t.yaml", `invalid template type "nonsense"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			kind, file, err := Arguments(strings.Fields(test.args))
			if kind != test.kind || file != test.file || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q, %q, %v; want %q, %q, error %q", kind, file, err, test.kind, test.file, test.err)
			}
		})
	}
}
