package catalogstore

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog"
)

// Get is the index of a content that was indexed before, and false when it is not there any more. The caller may close it.
func (c *Cache) Get(ctx context.Context, digest string) (*catalog.Index, bool) {
	x := c.open(ctx, c.path(digest, indexSuffix))
	return x, x != nil
}

// Earlier is the newest index of a content that another build of the program made, in a form that this one reads. It is for those who
// would have nothing otherwise, because the content cannot be had: that build may have judged it in another way. The caller may close it.
func (c *Cache) Earlier(ctx context.Context, digest string) (*catalog.Index, bool) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, false // what cannot be read has nothing
	}
	var paths []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), stem(digest)) && strings.HasSuffix(entry.Name(), indexSuffix) {
			paths = append(paths, filepath.Join(c.dir, entry.Name()))
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return changed(b).Compare(changed(a)) })
	for _, path := range paths {
		if x := c.open(ctx, path); x != nil {
			return x, true
		}
	}
	return nil, false
}

func changed(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
