package catalogcache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/filelock"
)

// Cache is a directory of indexes. It is safe for concurrent use.
type Cache struct {
	// Enforce makes Dir read all files of a catalog, rather than believe their
	// sizes and times, and Dir and FS check every byte of the index.
	Enforce bool

	dir      string
	program  string        // the build that is running
	building chan struct{} // has room for those who build an index
}

// maxBuilding is how many indexes are built at once: each takes several times the memory that the index needs afterwards.
const maxBuilding = 2

// The files in the directory, each named by a digest.
const (
	indexSuffix  = ".index"  // the index of a content
	recordSuffix = ".record" // what a directory was when it was read
	lockSuffix   = ".lock"   // held by the process that builds an index
	tempPrefix   = ".index-" // what is being written
)

// Open opens the cache in dir and makes it when it is not there.
func Open(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open the cache of catalogs %s: %w", dir, err)
	}
	return &Cache{dir: dir, program: program(), building: make(chan struct{}, maxBuilding)}, nil
}

// FS is the index of the catalog in fsys, whose content digest identifies: the
// digest of the image it is from, or any other that changes with it. The caller
// may close the Index.
func (c *Cache) FS(ctx context.Context, digest string, fsys fs.FS) (*catalog.Index, error) {
	return c.index(ctx, digest, func(path string) (*catalog.Index, error) {
		return catalog.Build(ctx, fsys, digest, path, catalog.LoadOptions{})
	})
}

// index opens the index of a content, or has it built at a path.
func (c *Cache) index(ctx context.Context, digest string, build func(path string) (*catalog.Index, error)) (*catalog.Index, error) {
	path := c.path(digest, indexSuffix)
	if x := c.open(ctx, path); x != nil {
		return x, nil
	}
	unlock, err := filelock.Lock(ctx, c.path(digest, lockSuffix))
	if err != nil {
		return nil, fmt.Errorf("lock the index of catalog %s, to build it in %s: %w", digest, c.dir, err)
	}
	defer unlock()
	if x := c.open(ctx, path); x != nil {
		return x, nil // somebody else has built it in the meantime
	}
	select {
	case c.building <- struct{}{}:
		defer func() { <-c.building }()
	case <-ctx.Done():
		return nil, fmt.Errorf("build the index of catalog %s in %s: %w", digest, c.dir, context.Cause(ctx))
	}
	x, err := func() (*catalog.Index, error) {
		defer thrifty()()
		return build(path)
	}()
	// Reading takes several times the memory that is needed afterwards. Whoever
	// serves catalogs wants it back now, and not by and by.
	debug.FreeOSMemory()
	return x, err
}

// open opens an index that is there and good, and marks it as used.
func (c *Cache) open(ctx context.Context, path string) *catalog.Index {
	x, err := catalog.Open(path)
	if err != nil {
		return nil // not there, damaged or stale: in any case it is built
	}
	if c.Enforce && x.Verify(ctx) != nil {
		_ = x.Close()
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now)
	return x
}

// path is the file of a kind for a content. Another build of the program may
// judge catalogs in another way, so it has files of its own.
func (c *Cache) path(digest, suffix string) string {
	return filepath.Join(c.dir, stem(digest)+shorthand(c.program)+suffix)
}

// stem begins the names of all files for a content, whichever build wrote them.
func stem(digest string) string {
	sum := sha256.Sum256([]byte(digest))
	return hex.EncodeToString(sum[:]) + "-"
}

// shorthand stands for a build of the program in the name of a file.
func shorthand(program string) string {
	sum := sha256.Sum256([]byte(program))
	return hex.EncodeToString(sum[:8])
}
