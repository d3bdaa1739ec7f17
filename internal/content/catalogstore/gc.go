package catalogstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// GCStats tell what a collection removed and what it left.
type GCStats struct {
	Removed      int   // indexes
	RemovedBytes int64 // their size
	LeftBytes    int64 // size of the indexes that are left
}

// orphanAge is how long a temporary file or a lock must be untouched before it
// is taken for the remains of a process that was killed.
const orphanAge = time.Hour

// ours is what the files of a cache are called.
var ours = regexp.MustCompile(`^([0-9a-f]{64}(-[0-9a-f]{16})?\.(index|record|lock)|\.index-.+)$`)

// GC removes the indexes that no one has asked for during the given time, those
// of the digests in keep aside, and what killed processes have left. As long as
// this build has no index of its own for a digest, those of others are kept: the
// content may not be had any more. An index that is open stays readable. What this process may not remove is left: the
// cache in an image belongs to who built it, and may be read-only.
func (c *Cache) GC(ctx context.Context, unused time.Duration, keep ...string) (GCStats, error) {
	var stats GCStats
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return stats, fmt.Errorf("collect garbage in the cache of catalogs: %w", err)
	}
	// The names of the files that hold the indexes of digests.
	kept := map[string]bool{}
	others := map[string]bool{} // the stems of those that this build has no index of
	for _, digest := range keep {
		own := c.path(digest, indexSuffix)
		kept[filepath.Base(own)] = true
		if _, err := os.Stat(own); err != nil {
			others[stem(digest)] = true
		}
	}
	for _, entry := range entries {
		if before, _, ok := strings.Cut(entry.Name(), "-"); ok && others[before+"-"] && strings.HasSuffix(entry.Name(), indexSuffix) {
			kept[entry.Name()] = true
		}
	}
	for _, entry := range entries {
		if ctx.Err() != nil {
			return stats, fmt.Errorf("collect garbage in the cache of catalogs %s: %w", c.dir, context.Cause(ctx))
		}
		info, err := entry.Info()
		if err != nil || !info.Mode().IsRegular() || !ours.MatchString(entry.Name()) {
			continue
		}
		age, isIndex := orphanAge, strings.HasSuffix(entry.Name(), indexSuffix)
		if isIndex || strings.HasSuffix(entry.Name(), recordSuffix) {
			age = unused
		}
		if kept[entry.Name()] || time.Since(info.ModTime()) < age {
			if isIndex {
				stats.LeftBytes += info.Size()
			}
			continue
		}
		err = os.Remove(filepath.Join(c.dir, entry.Name()))
		switch left := errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS); {
		case err != nil && !left && !errors.Is(err, fs.ErrNotExist):
			return stats, fmt.Errorf("collect garbage in the cache of catalogs: %w", err)
		case !isIndex:
		case left:
			stats.LeftBytes += info.Size()
		default:
			stats.Removed++
			stats.RemovedBytes += info.Size()
		}
	}
	return stats, nil
}
