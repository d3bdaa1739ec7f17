package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testName   = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")
	definition = regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(t \*testing\.T\)`)
)

// TestBoundariesAreProven: each row of the table of boundaries names tests, and each of them exists.
func TestBoundariesAreProven(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "\n## Boundaries\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	there, rows := tests(t), 0
	for _, line := range strings.Split(section, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| actor |") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "|"), "|")
		names := testName.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 5 || len(names) == 0 {
			t.Errorf("a row has %d columns and names %d tests, want 5 and at least 1: %s", len(cells), len(names), line)
		}
		for _, name := range names {
			if !there[name[1]] {
				t.Errorf("there is no test %s: %s", name[1], line)
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d rows are found in the table of boundaries", rows)
	}
}

// tests are the names of all tests of the project.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range definition.FindAllStringSubmatch(string(text), -1) {
			all[m[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
