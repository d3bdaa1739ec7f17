package catalogserver

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// TestCacheOfAnImage serves a directory from a cache that another user made while an image was built, and that is read-only.
func TestCacheOfAnImage(t *testing.T) {
	dir, cacheDir := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	write(t, dir, map[string]string{"catalog.yaml": small("one")})
	serve := func() {
		c, err := open(t, Options{CacheDir: cacheDir}).Catalog("c", dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, c); got != "one" {
			t.Errorf("package %s", got)
		}
	}
	serve()
	for path, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, cacheDir: 0o555} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(cacheDir, 0o755) }) // so that it can be removed
	if os.Geteuid() == 0 {
		runtime.LockOSThread()
		if err := syscall.Setfsuid(65534); err != nil { // who owns nothing
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := syscall.Setfsuid(0); err != nil {
				t.Error(err)
			}
			runtime.UnlockOSThread()
		})
	}
	serve()
}

// TestStateOfOtherFilesOfTheSameAge replaces a file by one of the same size and time, as tools do that set all times to the same.
func TestStateOfOtherFilesOfTheSameAge(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"catalog.yaml": small("one")})
	c, err := open(t, Options{}).Catalog("c", dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "catalog.yaml")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	before := state(t, c)
	write(t, dir, map[string]string{"catalog.new": small("two")})
	if err := os.Chtimes(filepath.Join(dir, "catalog.new"), info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, "catalog.new"), path); err != nil {
		t.Fatal(err)
	}
	if state(t, c) == before {
		t.Error("the same state of another file")
	}
}
