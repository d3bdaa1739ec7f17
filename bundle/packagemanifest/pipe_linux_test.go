package packagemanifest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestPipesAreNotOpened looks at a directory with pipes that nobody writes to.
func TestPipesAreNotOpened(t *testing.T) {
	dir := t.TempDir()
	pipe := func(name string) {
		must.NoError(t, syscall.Mkfifo(filepath.Join(dir, name), 0o600))
	}
	pipe("p.package.yaml")
	if Is(os.DirFS(dir)) {
		t.Error("a pipe is taken for a package file")
	}
	for name, text := range nested() {
		path := filepath.Join(dir, name)
		must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if name == "p.package.yaml" {
			name, path = "package.yaml", filepath.Join(dir, "package.yaml")
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(name, err)
		}
	}
	pipe("1.0.0/more.yaml")
	_, _, err := Convert(t.Context(), os.DirFS(dir))
	must.Fail(t, "Convert", err, "1.0.0/more.yaml: "+errNoFile.Error())
}
