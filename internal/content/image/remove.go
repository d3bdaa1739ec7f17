package image

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/opencontainers/go-digest"
)

// Remove removes an image, and who had access to it. One that is open stays readable, and none is no error.
func (s *Store) Remove(d string) error {
	parsed, err := digest.Parse(d)
	if err != nil {
		return fmt.Errorf("remove image %q from content store %s: %w", d, s.dir, err)
	}
	if err := os.Remove(s.path(imagesDir, parsed)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove image %s from content store %s: %w", d, s.dir, err)
	}
	if err := os.RemoveAll(s.path(accessDir, parsed)); err != nil {
		return fmt.Errorf("remove who had access to image %s from content store %s: %w", d, s.dir, err)
	}
	return nil
}
