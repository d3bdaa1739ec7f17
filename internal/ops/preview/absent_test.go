package preview

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestNamespaceThatIsNotThere is an error: a misspelt name is not a namespace in which all is well.
func TestNamespaceThatIsNotThere(t *testing.T) {
	cluster := Cluster{Reader: reader(t), Server: server{version: "v1.31.0"}}
	if _, err := cluster.Question(t.Context(), "here", ""); err != nil {
		t.Errorf("an empty namespace: %v", err)
	}
	_, err := cluster.Question(t.Context(), "gone", "")
	must.Fail(t, "the call", err, "there is no such namespace; correct --namespace")
}

// TestCommandThatCannotBePasted is left out rather than cut or changed.
func TestCommandThatCannotBePasted(t *testing.T) {
	for name, c := range map[string]struct {
		again []string
		arg   string
		told  bool
	}{
		"as it is":           {[]string{"--catalog", "a=b c"}, "web", true},
		"standard input":     {[]string{"--filename", "-"}, "web", false},
		"control characters": {nil, "we\x1b[31mb", false},
		"right to left":      {nil, "we\u202eb", false},
		"too long":           {[]string{"--filename", strings.Repeat("x", maxCommandSize)}, "web", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := flags(c.again)
			if line := p.toSee("see", "why-not", c.arg); (line != "") != c.told {
				t.Errorf("told %q", line)
			}
		})
	}
}
