package catalogsource

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// Recorded are the digests of what catalogs served last, as an earlier run has noted in a directory: that is needed as long as those
// catalogs exist, also before they were checked. Notes on catalogs that do not exist go once they are old enough.
func Recorded(dir string, exists func(catalog.Ref) bool, old time.Duration) ([]string, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for what catalogs served last: %w", err)
	}
	var digests []string
	for _, file := range files {
		path := filepath.Join(dir, file.Name())
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its catalog was deleted just now
		}
		if err != nil {
			return nil, fmt.Errorf("look for what catalogs served last: %w", err)
		}
		var was note
		noted := json.Unmarshal(data, &was) == nil // otherwise no one can make use of it
		if noted && exists(catalog.Ref{Namespace: was.Namespace, Name: was.Name}) {
			digests = append(digests, was.Digest)
			continue
		}
		if info, err := file.Info(); err == nil && time.Since(info.ModTime()) > old {
			_ = os.Remove(path) // when it stays it is only a small file too many
		}
	}
	return digests, nil
}
