package manager

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead.dev/fairlead/test/must"
)

// TestContainerMemory reads what either version of control groups says.
func TestContainerMemory(t *testing.T) {
	dir := t.TempDir()
	for content, want := range map[string]int64{"1073741824\n": 1 << 30, "max\n": 0, "9223372036854771712\n": 0, "": 0, "-1": 0} {
		file := filepath.Join(dir, "memory.max")
		must.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		if got := containerMemory([]string{filepath.Join(dir, "none"), file}); got != want {
			t.Errorf("%q: %d, want %d", content, got, want)
		}
	}
	if got := containerMemory(nil); got != 0 {
		t.Errorf("without a file: %d", got)
	}
}
