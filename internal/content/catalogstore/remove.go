package catalogstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Remove removes the index that this build of the program has of a content. One that is open stays readable, and none is no error.
func (c *Cache) Remove(digest string) error {
	if err := os.Remove(c.path(digest, indexSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the index of catalog %s: %w", digest, err)
	}
	return nil
}
