package scenarios

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

var (
	// scripted is what stands alone in the last cell of a row, or before a comma or semicolon, where a section has scripts.
	scripted    = regexp.MustCompile("(?:^|[,;:] |script )`([a-z][a-z-]*)`")
	scriptsLink = regexp.MustCompile(`\]\(([a-z0-9/]*testdata)\)`)
)

// root is the root of the repository.
var root = filepath.Join("..", "..")

// TestEveryScenarioHasItsTest: the tests, subtests and scripts that the list of scenarios names are there, and in the packages that it says.
func TestEveryScenarioHasItsTest(t *testing.T) {
	text := must.Value(os.ReadFile(filepath.Join(root, "test", "e2e", "README.md")))(t)
	tests := must.Value(Find(root))(t)
	if len(tests) < 1000 {
		t.Fatalf("only %d tests found: the walk does not see the project", len(tests))
	}
	scripts, found := "", 0
	for i, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "## ") {
			scripts = ""
		}
		if link := scriptsLink.FindStringSubmatch(line); link != nil {
			scripts = link[1]
		}
		for _, n := range Named(line) {
			found++
			if !tests.Have(n) {
				t.Errorf("test/e2e/README.md:%d: there is no %s", i+1, n.Text)
			}
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if scripts == "" || len(cells) != 3 {
			continue
		}
		for _, m := range scripted.FindAllStringSubmatch(cells[2], -1) {
			found++
			if _, err := os.Stat(filepath.Join(root, "test", "e2e", scripts, m[1]+".txtar")); err != nil {
				t.Errorf("test/e2e/README.md:%d: there is no script %s in %s", i+1, m[1], scripts)
			}
		}
	}
	if found < 500 {
		t.Errorf("only %d names found: the list is not understood", found)
	}
}
