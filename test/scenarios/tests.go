package scenarios

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

var (
	functionName = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)[A-Z]\w*)\(`)
	named        = regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z]\\w*)(\\.\\.\\.)?(?:/([^`]*))?`(?: of `([^` ]*/[^` ]*|[a-z]+)`)?")
)

// Name is a test as a page names it.
type Name struct {
	// Text is all of it.
	Text string
	// Function is the name of the test, or its beginning.
	Function string
	Begins   bool
	// Subtest and Package are empty where the page does not say them.
	Subtest, Package string
}

// Named are the tests that a line of a page names: `TestX`, `TestX...`, `TestX/subtest`, each perhaps with: of `package`.
func Named(line string) []Name {
	var names []Name
	for _, m := range named.FindAllStringSubmatch(line, -1) {
		names = append(names, Name{Text: m[0], Function: m[1], Begins: m[2] != "", Subtest: m[3], Package: m[4]})
	}
	return names
}

// place is a package with tests.
type place struct {
	dir string
	// text is all that its tests and the names of their data say.
	text string
}

// Tests are the packages that have a test of a name.
type Tests map[string][]*place

// Have says whether there is a test with its subtest in its package; of an ellipsis the beginning has to be there.
func (k Tests) Have(n Name) bool {
	for have, places := range k {
		if have != n.Function && !(n.Begins && strings.HasPrefix(have, n.Function)) {
			continue
		}
		for _, p := range places {
			words, _, _ := strings.Cut(n.Subtest, "...")
			words = strings.Join(strings.Split(strings.TrimRight(words, ":_"), "_"), " ")
			if strings.HasSuffix("/"+p.dir, suffix(n.Package)) && (strings.Contains(p.text, words) || strings.Contains(p.text, n.Subtest)) {
				return true
			}
		}
	}
	return false
}

// Packages are the directories of the packages with a test of this name.
func (k Tests) Packages(function string) []string {
	var dirs []string
	for _, p := range k[function] {
		dirs = append(dirs, p.dir)
	}
	return dirs
}

func suffix(pkg string) string {
	if pkg == "" {
		return ""
	}
	return "/" + pkg
}

// Find reads the tests below root, and the names of their data.
func Find(root string) (Tests, error) {
	all, places := Tests{}, map[string]*place{}
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && name != "." && strings.HasPrefix(entry.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		dir, below, data := strings.Cut(path.Dir(name), "/testdata")
		if !data && !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		p := places[dir]
		if p == nil {
			p = &place{dir: dir}
			places[dir] = p
		}
		if data {
			p.text += below + "/" + entry.Name() + "\n"
			return nil
		}
		text, err := fs.ReadFile(files, name)
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
		return nil, fmt.Errorf("find the tests below %s: %w", root, err)
	}
	return all, nil
}
