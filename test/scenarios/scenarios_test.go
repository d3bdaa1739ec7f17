package scenarios

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	functionName = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)[A-Z]\w*)\(`)
	// named is a test, perhaps with a subtest, and perhaps the package that it is of.
	named = regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z]\\w*)(\\.\\.\\.)?(?:/([^`]*))?`(?: of `([^` ]*/[^` ]*)`)?")
	// scripted is what stands alone in the last cell of a row, or before a comma or semicolon, where a section has scripts.
	scripted    = regexp.MustCompile("(?:^|[,;:] |script )`([a-z][a-z-]*)`")
	scriptsLink = regexp.MustCompile(`\]\(([a-z0-9/]*testdata)\)`)
)

// root is the root of the repository.
var root = filepath.Join("..", "..")

// TestEveryScenarioHasItsTest: the tests, subtests and scripts that the list of scenarios names are there, and in the packages that it says.
func TestEveryScenarioHasItsTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "test", "e2e", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOf(t)
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
		for _, m := range named.FindAllStringSubmatch(line, -1) {
			found++
			if !tests.have(m[1], m[2] != "", m[3], m[4]) {
				t.Errorf("test/e2e/README.md:%d: there is no %s", i+1, m[0])
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

// place is a package with tests.
type place struct {
	dir string
	// text is all that its tests and the names of their data say.
	text string
}

// known are the packages that have a test of a name.
type known map[string][]*place

// have says whether there is a test with a subtest in a package; of an ellipsis the beginning has to be there.
func (k known) have(name string, begins bool, subtest, pkg string) bool {
	for have, places := range k {
		if have != name && !(begins && strings.HasPrefix(have, name)) {
			continue
		}
		for _, p := range places {
			words, _, _ := strings.Cut(subtest, "...")
			words = strings.Join(strings.Split(strings.TrimRight(words, ":_"), "_"), " ")
			if strings.HasSuffix(p.dir, pkg) && (strings.Contains(p.text, words) || strings.Contains(p.text, subtest)) {
				return true
			}
		}
	}
	return false
}

func testsOf(t *testing.T) known {
	t.Helper()
	all := known{}
	places := map[string]*place{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && name != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		dir, _, data := strings.Cut(path.Dir(name), "/testdata")
		if !data && !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		p := places[dir]
		if p == nil {
			p = &place{dir: dir}
			places[dir] = p
		}
		if data {
			p.text += entry.Name() + "\n"
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		p.text += string(text)
		for _, m := range functionName.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = append(all[m[1]], p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
