package catalogstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"
)

// nobody is a user that owns nothing.
const nobody = 65534

// unprivileged makes the rest of a test read and write files as a user to whom
// permissions apply, whoever runs it.
func unprivileged(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	runtime.LockOSThread()
	must.NoError(t, syscall.Setfsuid(nobody))
	t.Cleanup(func() {
		must.NoError(t, syscall.Setfsuid(0))
		runtime.UnlockOSThread()
	})
}

// TestReadOnlyCache uses a cache as it is found in an image: built long ago, by
// another user.
func TestReadOnlyCache(t *testing.T) {
	c, dir, other := newCache(t), t.TempDir(), t.TempDir()
	write(t, dir, "catalog.json", text("1.0.0"), 48*time.Hour)
	write(t, other, "catalog.json", text("1.0.1"), 48*time.Hour)
	dirVersion(t, c, dir)
	past := time.Now().Add(-48 * time.Hour)
	for _, suffix := range []string{".index", ".lock"} {
		found, err := filepath.Glob(filepath.Join(c.dir, "[0-9a-f]*"+suffix))
		if err != nil || len(found) != 1 {
			t.Fatalf("files %v, %v, want one", found, err)
		}
		must.NoError(t, os.Chtimes(found[0], past, past))
	}
	for path, mode := range map[string]os.FileMode{
		filepath.Dir(c.dir): 0o755, c.dir: 0o555, filepath.Join(dir, "catalog.json"): 0o644, filepath.Join(other, "catalog.json"): 0o644,
	} {
		must.NoError(t, os.Chmod(path, mode))
	}
	t.Cleanup(func() { _ = os.Chmod(c.dir, 0o755) }) // so that it can be removed
	unprivileged(t)
	must.Equal(t, "version", dirVersion(t, c, dir), "1.0.0")
	stats, err := c.GC(t.Context(), 24*time.Hour)
	if err != nil || stats.Removed != 0 || stats.LeftBytes == 0 {
		t.Errorf("collected %+v, %v, want everything left", stats, err)
	}
	if _, err := c.Dir(t.Context(), other); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v, want %v", err, fs.ErrPermission)
	}
}
