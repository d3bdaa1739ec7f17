package docs

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestReadmeNamesEveryPage: nobody finds a page that nothing leads to.
func TestReadmeNamesEveryPage(t *testing.T) {
	readme := must.Value(os.ReadFile(filepath.Join(root, "README.md")))(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages %q, %v", pages, err)
	}
	for _, page := range pages {
		must.Contain(t, filepath.Base(page), string(readme), "(docs/"+filepath.Base(page)+")")
	}
}
