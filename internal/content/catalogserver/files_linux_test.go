package catalogserver

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestCacheOfAnImage serves a directory from a cache that another user made while an image was built, and that is read-only.
func TestCacheOfAnImage(t *testing.T) {
	dir, cacheDir := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	write(t, dir, map[string]string{"catalog.yaml": small("one")})
	serve := func() {
		c := must.Value(open(t, Options{CacheDir: cacheDir}).Catalog("c", dir))(t)
		must.Equal(t, "package", read(t, c), "one")
	}
	serve()
	for path, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, cacheDir: 0o555} {
		must.NoError(t, os.Chmod(path, mode))
	}
	t.Cleanup(func() { _ = os.Chmod(cacheDir, 0o755) }) // so that it can be removed
	if os.Geteuid() == 0 {
		runtime.LockOSThread()
		if err := syscall.Setfsuid(65534); err != nil { // who owns nothing
			t.Fatal(err)
		}
		t.Cleanup(func() {
			must.NoError(t, syscall.Setfsuid(0))
			runtime.UnlockOSThread()
		})
	}
	serve()
}

// TestStateOfOtherFilesOfTheSameAge replaces a file by one of the same size and time, as tools do that set all times to the same.
func TestStateOfOtherFilesOfTheSameAge(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"catalog.yaml": small("one")})
	c := must.Value(open(t, Options{}).Catalog("c", dir))(t)
	path := filepath.Join(dir, "catalog.yaml")
	info := must.Value(os.Stat(path))(t)
	before := state(t, c)
	write(t, dir, map[string]string{"catalog.new": small("two")})
	must.NoError(t, os.Chtimes(filepath.Join(dir, "catalog.new"), info.ModTime(), info.ModTime()))
	must.NoError(t, os.Rename(filepath.Join(dir, "catalog.new"), path))
	if state(t, c) == before {
		t.Error("the same state of another file")
	}
}
