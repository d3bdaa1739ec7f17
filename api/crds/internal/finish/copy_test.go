package main

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestCopyDirectory: the copy has the files of the source and no others, and a link in its place is replaced rather than followed.
func TestCopyDirectory(t *testing.T) {
	root := t.TempDir()
	from, to := filepath.Join(root, "from"), filepath.Join(root, "to")
	must.NoError(t, os.Mkdir(from, 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(from, "a.yaml"), []byte("a"), 0o600))
	must.NoError(t, os.WriteFile(filepath.Join(from, "crds.go"), []byte("package crds"), 0o600))
	must.NoError(t, os.Symlink(from, to))
	check := func(want map[string]string) {
		t.Helper()
		got := map[string]string{}
		for _, entry := range must.Value(os.ReadDir(to))(t) {
			got[entry.Name()] = string(must.Value(os.ReadFile(filepath.Join(to, entry.Name())))(t))
		}
		must.Equal(t, "copies", got, want)
	}
	must.NoError(t, copyDirectory(from, to))
	check(map[string]string{"a.yaml": "a"})
	must.Equal(t, "the source after the link was replaced", len(must.Value(os.ReadDir(from))(t)), 2)
	must.NoError(t, os.Rename(filepath.Join(from, "a.yaml"), filepath.Join(from, "b.yaml")))
	must.NoError(t, copyDirectory(from, to))
	check(map[string]string{"b.yaml": "a"})
}
