package docs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairlead.dev/fairlead/test/must"
)

func TestSteps(t *testing.T) {
	page := "text\n$ not a command\n```console\n$ one\na\nb\n$ two \\\n> more\n```\n```yaml\n$ no: command\n```\n"
	want := []step{{line: 4, command: "one", output: []string{"a", "b"}}, {line: 7, command: "two \\\nmore"}}
	must.Equal(t, "steps", steps(page), want, cmp.AllowUnexported(step{}))
}

func TestMatches(t *testing.T) {
	tests := map[string]struct {
		page, lines string
		want        bool
	}{
		"the same":                 {"a\nb", "a\nb", true},
		"another line":             {"a\nb", "a\nc", false},
		"a line more":              {"a", "a\nb", false},
		"a line less":              {"a\nb", "a", false},
		"any lines":                {"a\n...\nd", "a\nb\nc\nd", true},
		"any lines may be none":    {"a\n...\nb", "a\nb", true},
		"any lines at the end":     {"a\n...", "a\nb", true},
		"what follows must follow": {"...\nd", "a\nb", false},
		"any text":                 {"took … ms", "took 12 ms", true},
		"but only there":           {"took … ms", "took 12 s", false},
		"nothing special":          {"a.c (1)", "abc (1)", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "matches", matches(strings.Split(test.page, "\n"), strings.Split(test.lines, "\n")), test.want)
		})
	}
}

func TestRewrite(t *testing.T) {
	page := "text\n```console\n$ one\nold\n$ two \\\n> more\n```\nend\n"
	todo := steps(page)
	must.Equal(t, "rewritten with its own output the page", rewrite(page, todo), page)
	todo[0].output = []string{"new", "lines"}
	if want := strings.Replace(page, "old", "new\nlines", 1); rewrite(page, todo) != want {
		t.Errorf("rewritten with new output the page is\n%s", rewrite(page, todo))
	}
}
