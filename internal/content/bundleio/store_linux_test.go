package bundleio

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestReadOnlyCacheDirectory finds a store that another user made.
func TestReadOnlyCacheDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("OLM_CACHE_DIR", dir)
	must.Value((&Renderer{}).open(t.Context()))(t)
	for _, path := range []string{"..", "fairlead", "fairlead/blobs", "fairlead/images", "fairlead/locks", "fairlead/tmp"} {
		must.NoError(t, os.Chmod(filepath.Join(dir, path), 0o555))
	}
	t.Cleanup(func() { // so that it can be removed
		for _, path := range []string{"..", "fairlead", "fairlead/tmp"} {
			_ = os.Chmod(filepath.Join(dir, path), 0o755)
		}
	})
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
	r := &Renderer{}
	if _, err := r.open(t.Context()); err != nil || r.temporary == "" || strings.HasPrefix(r.temporary, dir) {
		t.Errorf("store in %q, %v, want a temporary one", r.temporary, err)
	}
	must.NoError(t, r.Close())
}
