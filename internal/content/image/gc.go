package image

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
)

// GCStats tell what a collection removed and what it left.
type GCStats struct {
	Removed      int   // images and blobs removed
	RemovedBytes int64 // their size on disk
	LeftBytes    int64 // size of what is left
}

// grace protects what has been used just now: its digest may be on its way
// into an object that the caller's keep does not know yet.
const grace = time.Minute

// stored is one image or blob of the store.
type stored struct {
	path   string
	digest string
	size   int64
	used   time.Time
}

// GC removes what was not used for the longest time until the store takes at
// most maxBytes. It never removes what keep wants, asked by digest, nor what
// was used within the last minute, and so may leave more. Images that are open
// stay readable. A nil keep wants nothing.
func (s *Store) GC(ctx context.Context, keep func(digest string) bool, maxBytes int64) (GCStats, error) {
	s.dir.removeOrphans()
	defer s.dir.removeGrants()
	var stats GCStats
	var candidates []stored
	for _, kind := range []string{blobsDir, imagesDir} {
		// Return what is stored of a kind.
		entries, err := os.ReadDir(filepath.Join(string(s.dir), kind))
		if err != nil {
			return stats, fmt.Errorf("collect garbage in content store %s: %w", s.dir, err)
		}
		var found []stored
		for _, entry := range entries {
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				continue // another process collects too
			}
			if err != nil {
				return stats, fmt.Errorf("collect garbage in content store %s: %w", s.dir, err)
			}
			found = append(found, stored{
				path:   filepath.Join(string(s.dir), kind, entry.Name()),
				digest: strings.Replace(entry.Name(), "-", ":", 1),
				size:   info.Size(),
				used:   info.ModTime(),
			})
		}
		candidates = append(candidates, found...)
	}
	for _, c := range candidates {
		stats.LeftBytes += c.size
	}
	slices.SortFunc(candidates, func(a, b stored) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path))
	})
	for _, c := range candidates {
		if stats.LeftBytes <= maxBytes {
			return stats, nil
		}
		if err := ctx.Err(); err != nil {
			return stats, fmt.Errorf("collect garbage in content store %s: %w", s.dir, err)
		}
		if time.Since(c.used) < grace || keep != nil && keep(c.digest) {
			continue
		}
		if err := os.Remove(c.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return stats, fmt.Errorf("collect garbage in content store %s: %w", s.dir, err)
		}
		stats.Removed++
		stats.RemovedBytes += c.size
		stats.LeftBytes -= c.size
	}
	return stats, nil
}

// Remove removes an image, and who had access to it. One that is open stays readable, and none is no error.
func (s *Store) Remove(d string) error {
	parsed, err := digest.Parse(d)
	if err != nil {
		return fmt.Errorf("remove image %q from content store %s: %w", d, s.dir, err)
	}
	if err := os.Remove(s.dir.path(imagesDir, parsed)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove image %s from content store %s: %w", d, s.dir, err)
	}
	if err := os.RemoveAll(s.dir.path(accessDir, parsed)); err != nil {
		return fmt.Errorf("remove who had access to image %s from content store %s: %w", d, s.dir, err)
	}
	return nil
}
