package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// maxReadme is how many lines the README has at most: who opens it wants to begin.
const maxReadme = 150

// TestReadmeNamesEveryPage: no one finds a page that nothing leads to. The README leads to the list of pages, and that to each of them.
func TestReadmeNamesEveryPage(t *testing.T) {
	readme := string(must.Value(os.ReadFile(filepath.Join(root, "README.md")))(t))
	index := string(must.Value(os.ReadFile(filepath.Join(root, "docs", "README.md")))(t))
	must.Contain(t, "the list of pages", readme, "(docs/README.md)")
	if lines := strings.Count(readme, "\n"); lines > maxReadme {
		t.Errorf("README.md has %d lines, the most is %d", lines, maxReadme)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages %q, %v", pages, err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" {
			must.Contain(t, name, index, "("+name+")")
		}
	}
}
