package catalog

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// twoPackages is a catalog with objects in and out of packages.
func twoPackages() *Catalog {
	return &Catalog{
		Packages: []Package{{Name: "b", DefaultChannel: "c"}, {Name: "a"}},
		Channels: []Channel{{Package: "b", Name: "c", Entries: []Entry{{Name: "b.v1"}}}, {Package: "only-a-channel", Name: "c"}},
		Others:   []Meta{{Schema: "x", Blob: []byte(`{"schema":"x"}`)}, {Schema: "x", Package: "a", Blob: []byte(`{"package":"a","schema":"x"}`)}},
	}
}

func TestWriteDirectory(t *testing.T) {
	parent := t.TempDir()
	empty := filepath.Join(parent, "empty")
	must.NoError(t, os.Mkdir(empty, 0o755))
	for name, dir := range map[string]string{"missing": filepath.Join(parent, "x", "y"), "empty": empty, "ends with a slash": filepath.Join(parent, "z") + "/"} {
		t.Run(name, func(t *testing.T) {
			c := twoPackages()
			must.NoError(t, WriteDirectory(context.Background(), dir, c, YAML))
			want := []string{"a/catalog.yaml", "b/catalog.yaml", "catalog.yaml", "only-a-channel/catalog.yaml"}
			// List the files below a directory.
			var found []string
			must.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
				if err == nil && !entry.IsDir() {
					path, err = filepath.Rel(dir, path)
					found = append(found, filepath.ToSlash(path))
				}
				return err
			}))
			must.Equal(t, "files", found, want)
			again := must.Value(Load(context.Background(), os.DirFS(dir), LoadOptions{}))(t)
			if !bytes.Equal(written(t, WriteJSON, c), written(t, WriteJSON, again)) {
				t.Error("what is in the directory is not what was written")
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(parent, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteDirectoryRefuses(t *testing.T) {
	full := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(full, ".hidden"), nil, 0o600))
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	named := func(name string) *Catalog { return &Catalog{Channels: []Channel{{Package: name, Name: "c"}}} }
	for name, test := range map[string]struct {
		ctx    context.Context
		dir    string
		c      *Catalog
		format Format
		want   string
	}{
		"not empty":      {context.Background(), full, twoPackages(), JSON, `must be empty; it has ".hidden"`},
		"a file":         {context.Background(), filepath.Join(full, ".hidden"), twoPackages(), JSON, "not a directory"},
		"another format": {context.Background(), t.TempDir(), twoPackages(), "txt", `no format "txt"`},
		"up":             {context.Background(), t.TempDir(), named(".."), JSON, `invalid package name ".."`},
		"here":           {context.Background(), t.TempDir(), named("."), JSON, `invalid package name "."`},
		"down":           {context.Background(), t.TempDir(), named("a/b"), JSON, `invalid package name "a/b"`},
		"rooted":         {context.Background(), t.TempDir(), named("/a"), JSON, `invalid package name "/a"`},
		"other slash":    {context.Background(), t.TempDir(), named(`a\b`), JSON, `invalid package name "a\\b"`},
		"stopped":        {ended, t.TempDir(), twoPackages(), JSON, "stopped before the end: context canceled"},
		"stopped, new":   {ended, filepath.Join(t.TempDir(), "new"), twoPackages(), JSON, "stopped before the end: context canceled"},
		"no JSON":        {context.Background(), t.TempDir(), &Catalog{Others: []Meta{{Schema: "s", Blob: []byte("x")}}}, JSON, "this is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			err := WriteDirectory(test.ctx, test.dir, test.c, test.format)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one with %q", err, test.want)
			}
			if test.dir == full || filepath.Dir(test.dir) == full {
				return
			}
			if found, err := os.ReadDir(test.dir); len(found) > 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("left behind: %v (%v)", found, err)
			}
		})
	}
}

// TestInterruptedWriteIsNoCatalog shows what a directory looks like when the
// process that fills it is killed.
func TestInterruptedWriteIsNoCatalog(t *testing.T) {
	dir := t.TempDir()
	partial := filepath.Join(dir, "partial-X")
	must.NoError(t, os.Mkdir(partial, 0o755))
	must.NoError(t, os.WriteFile(filepath.Join(partial, unfinished), []byte(unfinishedText), 0o600))
	must.NoError(t, writeFiles(context.Background(), partial, canonicalOrder(twoPackages())[:1], JSON))
	if _, err := Load(context.Background(), os.DirFS(dir), LoadOptions{}); err == nil {
		t.Error("half a catalog is read as if it were one")
	}
}
