package bundleio

import (
	"fmt"
	"os"
	"path/filepath"
)

// Authorities lays out a file with certificate authorities as image.Config wants it, for every registry. The caller removes the
// directory that it returns.
func Authorities(file string) (dir string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read certificate authorities: %w", err)
	}
	if dir, err = os.MkdirTemp("", "fairlead-authorities-"); err != nil {
		return "", fmt.Errorf("lay out certificate authorities: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "root.crt"), data, 0o600); err != nil {
		_ = os.RemoveAll(dir)
		return "", fmt.Errorf("lay out certificate authorities: %w", err)
	}
	return dir, nil
}
