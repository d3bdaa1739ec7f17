package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadmeNamesEveryPage: nobody finds a page that nothing leads to.
func TestReadmeNamesEveryPage(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages %q, %v", pages, err)
	}
	for _, page := range pages {
		if link := "(docs/" + filepath.Base(page) + ")"; !strings.Contains(string(readme), link) {
			t.Errorf("README.md has no link to docs/%s", filepath.Base(page))
		}
	}
}
