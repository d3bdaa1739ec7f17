package catalogstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"
)

// text is a catalog with one bundle of the given version.
func text(version string) string {
	return fmt.Sprintf(`{"schema":"olm.package","name":"p","defaultChannel":"c"}
{"schema":"olm.channel","name":"c","package":"p","entries":[{"name":"p.v%[1]s"}]}
{"schema":"olm.bundle","name":"p.v%[1]s","package":"p","image":"example.com/p:1","properties":[
  {"type":"olm.package","value":{"packageName":"p","version":%[1]q}},{"type":"olm.csv.metadata","value":{"displayName":%[1]q}}]}
`, version)
}

// newCache is a cache with what is often found in a volume.
func newCache(t *testing.T) *Cache {
	t.Helper()
	dir := t.TempDir()
	must.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700))
	must.NoError(t, os.WriteFile(filepath.Join(dir, "notes.index"), []byte("x"), 0o600))
	c := must.Value(OpenCache(dir))(t)
	return c
}

// write writes a catalog whose files are as old as is said.
func write(t *testing.T, dir, name, content string, age time.Duration) {
	t.Helper()
	must.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	then := time.Now().Add(-age)
	must.NoError(t, os.Chtimes(filepath.Join(dir, name), then, then))
}

// version is that of the head in an index, whose payload must be readable.
func version(t *testing.T, x *catalog.Index) string {
	t.Helper()
	defer x.Close()
	p, ok := x.Package("p")
	if !ok {
		t.Fatalf("no package; problems: %v", x.Problems())
	}
	b := p.Channels[0].Entries[0].Bundle
	metadata, err := x.CSVMetadata(b)
	must.NoErrorf(t, err, "metadata of version")
	must.Contain(t, "metadata of version error", string(metadata), b.VersionText)
	return b.VersionText
}

func dirVersion(t *testing.T, c *Cache, dir string) string {
	t.Helper()
	x := must.Value(c.Dir(t.Context(), dir))(t)
	return version(t, x)
}

// files are the files of a cache with a suffix.
func files(t *testing.T, c *Cache, suffix string) []string {
	t.Helper()
	names := must.Value(filepath.Glob(filepath.Join(c.dir, strings.Repeat("[0-9a-f]", 64)+"*"+suffix)))(t)
	return names
}

// settle waits until a change of files made before is sure to show.
func settle() { time.Sleep(granularity + 50*time.Millisecond) }

func TestDirFollowsTheDirectory(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	for _, v := range []string{"1.0.0", "1.0.1", "1.0.0"} {
		write(t, dir, "catalog.json", text(v), 0) // of the same size, and at nearly the same time
		for range 2 {
			must.Equal(t, "version", dirVersion(t, c, dir), v)
		}
	}
	must.Equal(t, "indexes of two contents", len(files(t, c, indexSuffix)), 2)
	must.Equal(t, "records of files that have just been written", len(files(t, c, recordSuffix)), 0)
}

// TestDirReadsNothingTwice finds out what was read by a record that lies.
func TestDirReadsNothingTwice(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	write(t, dir, "catalog.json", text("1.0.0"), time.Hour)
	settle()
	must.Equal(t, "version", dirVersion(t, c, dir), "1.0.0")
	records := files(t, c, recordSuffix)
	if len(records) != 1 {
		t.Fatalf("%d records", len(records))
	}
	x := must.Value(c.FS(t.Context(), "other", fstest.MapFS{"catalog.json": {Data: []byte(text("2.0.0"))}}))(t)
	must.Equal(t, "version", version(t, x), "2.0.0")
	v := must.Value(look(t.Context(), os.DirFS(dir)))(t)
	c.remember(dir, v, "other")
	must.Equal(t, "version the files were read although nothing changed", dirVersion(t, c, dir), "2.0.0")
	c.Enforce = true
	must.Equal(t, "version the files were not read", dirVersion(t, c, dir), "1.0.0")
	c.Enforce = false
	write(t, dir, "catalog.json", text("1.0.9"), time.Hour)
	must.Equal(t, "version a change of the same size, with its time set back, was not seen", dirVersion(t, c, dir), "1.0.9")
}

func TestViewChanges(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "catalog.json", text("1.0.0"), time.Hour)
	seen := map[string]string{}
	see := func(what string) {
		v := must.Value(look(t.Context(), os.DirFS(dir)))(t)
		want := ""
		if what == "a file that is ignored" {
			want = "a change of size" // before that file was there
		}
		must.Equal(t, what, seen[v.digest], want)
		seen[v.digest] = what
	}
	see("nothing")
	write(t, dir, "catalog.json", text("1.0.0"), time.Minute)
	see("a change of time")
	write(t, dir, "catalog.json", text("1.0.10"), time.Hour)
	see("a change of size")
	write(t, dir, "more.json", "", time.Hour)
	see("another file")
	write(t, dir, ".indexignore", "more.json\n", time.Hour)
	see("a file that is ignored")
	write(t, dir, ".indexignore", "more.json\n[\n", time.Hour)
	see("a pattern that is none")
}

// changing is a file system whose file has another content each time it is
// opened, as often as is said.
type changing struct {
	fs.FS
	left atomic.Int32
	dir  string
}

func (f *changing) Open(name string) (fs.File, error) {
	if n := f.left.Add(-1); name == "catalog.json" && n >= 0 {
		if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text(fmt.Sprintf("1.0.%d", n))), 0o600); err != nil {
			return nil, err
		}
	}
	return f.FS.Open(name)
}

func TestDirThatChangesIsNotKept(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	write(t, dir, "catalog.json", text("1.0.0"), 0)
	f := &changing{FS: os.DirFS(dir), dir: dir}
	f.left.Store(1000)
	d := directory{cache: c, path: dir, fsys: f}
	if _, err := d.index(t.Context()); !errors.Is(err, errChanged) {
		t.Errorf("error %v, want %v", err, errChanged)
	}
	must.Equal(t, "indexes were kept", len(files(t, c, indexSuffix)), 0)
	f.left.Store(0)
	x := must.Value(d.index(t.Context()))(t)
	must.NoError(t, x.Close())
	left, err := filepath.Glob(filepath.Join(c.dir, tempPrefix+"*"))
	must.NoErrorf(t, err, "left behind")
	must.Empty(t, "left behind", left)
}

func TestDirErrors(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	write(t, dir, "file", "", 0)
	for path, want := range map[string]string{
		filepath.Join(dir, "none"): "no such file or directory",
		filepath.Join(dir, "file"): "it is not a directory",
	} {
		_, err := c.Dir(t.Context(), path)
		must.Fail(t, path, err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Dir(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestFSBuildsOnce lets many ask at once; only one may read the catalog.
func TestFSBuildsOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "catalog.json", text("1.0.0"), 0)
	f := &changing{FS: os.DirFS(dir), dir: dir} // counts
	cacheDir := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c, err := OpenCache(cacheDir)
			if err != nil {
				t.Error(err)
				return
			}
			x, err := c.FS(t.Context(), "sha256:1", f)
			if err != nil {
				t.Error(err)
				return
			}
			must.Equal(t, "version", version(t, x), "1.0.0")
		})
	}
	all.Wait()
	opened := -f.left.Load()
	c := must.Value(OpenCache(t.TempDir()))(t)
	x := must.Value(c.FS(t.Context(), "sha256:1", f))(t)
	defer x.Close()
	must.Equal(t, "files were opened, would do", opened, -f.left.Load()-opened)
}

// TestDamageIsRepaired damages an index in all sorts of ways.
func TestDamageIsRepaired(t *testing.T) {
	fsys := fstest.MapFS{"catalog.json": {Data: []byte(text("1.0.0"))}}
	for name, test := range map[string]struct {
		enforce bool
		damage  func(data []byte) []byte
	}{
		"empty":                  {damage: func([]byte) []byte { return nil }},
		"truncated":              {damage: func(data []byte) []byte { return data[:len(data)/2] }},
		"another version":        {damage: func(data []byte) []byte { data[24]++; return data }},
		"a bit at the end":       {damage: func(data []byte) []byte { data[len(data)-1] ^= 1; return data }},
		"a bit of an object":     {enforce: true, damage: func(data []byte) []byte { data[150] ^= 1; return data }},
		"something else instead": {damage: func(data []byte) []byte { return []byte(strings.Repeat("x", len(data))) }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCache(t)
			c.Enforce = test.enforce
			x := must.Value(c.FS(t.Context(), "sha256:1", fsys))(t)
			version(t, x)
			indexes := files(t, c, indexSuffix)
			if len(indexes) != 1 {
				t.Fatalf("%d indexes", len(indexes))
			}
			data := must.Value(os.ReadFile(indexes[0]))(t)
			must.NoError(t, os.WriteFile(indexes[0], test.damage(data), 0o600))
			for range 2 {
				x := must.Value(c.FS(t.Context(), "sha256:1", fsys))(t)
				must.Equal(t, "version", version(t, x), "1.0.0")
			}
		})
	}
}

func TestDamagedRecordsAreIgnored(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	write(t, dir, "catalog.json", text("1.0.0"), time.Hour)
	settle()
	dirVersion(t, c, dir)
	for _, content := range []string{"", "{", `{"path":"/other"}`, "[]", strings.Repeat("x", maxRecord+1), `{"path":` + fmt.Sprintf("%q", dir) + `,"digest":"sha256:none"}`} {
		must.NoError(t, os.WriteFile(c.recordPath(dir), []byte(content), 0o600))
		must.Equal(t, "version", dirVersion(t, c, dir), "1.0.0")
		if repaired, err := os.ReadFile(c.recordPath(dir)); err != nil || string(repaired) == content {
			t.Errorf("the record %.50q was not written again (%v)", content, err)
		}
	}
}

func TestGC(t *testing.T) {
	c, dir := newCache(t), t.TempDir()
	write(t, dir, "catalog.json", text("1.0.0"), time.Hour)
	settle()
	dirVersion(t, c, dir)
	fsys := fstest.MapFS{"catalog.json": {Data: []byte(text("2.0.0"))}}
	old := must.Value(c.FS(t.Context(), "old", fsys))(t)
	defer old.Close()
	kept := must.Value(c.FS(t.Context(), "kept", fsys))(t)
	defer kept.Close()
	for _, name := range []string{".index-1", "notes.index"} {
		write(t, c.dir, name, "", 48*time.Hour)
	}
	write(t, c.dir, ".index-2", "", 0)
	past := time.Now().Add(-48 * time.Hour)
	for _, digest := range []string{"old", "kept"} {
		for _, suffix := range []string{indexSuffix, lockSuffix} {
			must.NoError(t, os.Chtimes(c.path(digest, suffix), past, past))
		}
	}
	stats := must.Value(c.GC(t.Context(), 24*time.Hour, "kept"))(t)
	if stats.Removed != 1 || stats.RemovedBytes == 0 || stats.LeftBytes == 0 {
		t.Errorf("stats %+v", stats)
	}
	for name, want := range map[string]bool{
		c.path("old", indexSuffix): false, c.path("kept", indexSuffix): true, c.recordPath(dir): true,
		c.path("old", lockSuffix): false, filepath.Join(c.dir, ".index-1"): false, filepath.Join(c.dir, ".index-2"): true,
		filepath.Join(c.dir, "notes.index"): true, filepath.Join(c.dir, "lost+found"): true,
	} {
		if _, err := os.Stat(name); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", filepath.Base(name), err == nil, want)
		}
	}
	must.Equal(t, "version", dirVersion(t, c, dir), "1.0.0")
	if content, _ := old.Content(); content != nil {
		if _, err := io.Copy(io.Discard, content); err != nil {
			t.Errorf("an index that is open is not readable after it was collected: %v", err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file", "", 0)
	if _, err := OpenCache(filepath.Join(dir, "file", "cache")); err == nil {
		t.Error("a cache was opened in a file")
	}
}
