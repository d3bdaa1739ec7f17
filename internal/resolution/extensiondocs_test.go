package resolution

import (
	"os"
	"regexp"
	"testing"

	"golang.org/x/tools/txtar"

	"fairlead.dev/fairlead/test/must"
)

var quoted = regexp.MustCompile("(?s)<!-- golden: (\\S+) -->\n```\n(.*?)```\n")

// TestDocs demands that the examples of the documentation are what the scenarios of their names come to.
func TestDocs(t *testing.T) {
	page := must.Value(os.ReadFile("../../docs/resolution-v1.md"))(t)
	examples := quoted.FindAllStringSubmatch(string(page), -1)
	if len(examples) < 5 {
		t.Fatalf("only %d examples were found", len(examples))
	}
	for _, e := range examples {
		archive := must.Value(txtar.ParseFile("testdata/extension/" + e[1] + ".txtar"))(t)
		want := ""
		for _, f := range archive.Files {
			if f.Name == "want" {
				want = string(f.Data)
			}
		}
		must.Equal(t, "example "+e[1], e[2], want)
	}
}
