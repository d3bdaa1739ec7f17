package catalogstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
)

// Cache is a directory of indexes. It is safe for concurrent use.
type Cache struct {
	// Enforce makes Dir read all files of a catalog, rather than believe their
	// sizes and times, and Dir and FS check every byte of the index.
	Enforce bool
	// Limits bound what one catalog may cost; what exceeds them has no index.
	// Flags names, for fields of Limits, the options that raise them. Both are
	// set before the cache is used.
	Limits catalog.Limits
	Flags  map[string]string

	dir     string
	program string // the build that is running
	lanes   lanes
	refused refusals
}

// The files in the directory, each named by a digest.
const (
	indexSuffix  = ".index"  // the index of a content
	recordSuffix = ".record" // what a directory was when it was read
	lockSuffix   = ".lock"   // held by the process that builds an index
	tempPrefix   = ".index-" // what is being written
)

// OpenCache opens the cache in dir and makes it when it is not there.
func OpenCache(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open the cache of catalogs %s: %w", dir, err)
	}
	return &Cache{dir: dir, program: program(), lanes: lanes{make(chan struct{}, 1), make(chan struct{}, 1)}}, nil
}

// FS is the index of the catalog in fsys, whose content digest identifies: the
// digest of the image it is from, or any other that changes with it. The caller
// may close the Index. What is known to be wrong with the content beforehand
// has to follow from what the digest identifies, too.
func (c *Cache) FS(ctx context.Context, digest string, fsys fs.FS, known ...catalog.Problem) (*catalog.Index, error) {
	return c.index(ctx, digest, fsys, func(path string) (*catalog.Index, error) {
		o := c.options()
		o.Problems = known
		return catalog.Build(ctx, fsys, digest, path, o)
	})
}

// index opens the index of a content, or has it built at a path.
func (c *Cache) index(ctx context.Context, digest string, fsys fs.FS, build func(path string) (*catalog.Index, error)) (*catalog.Index, error) {
	path := c.path(digest, indexSuffix)
	if x := c.open(ctx, path); x != nil {
		return x, nil
	}
	if err := c.refused.of(path); err != nil {
		return nil, err
	}
	unlock, err := image.Lock(ctx, c.path(digest, lockSuffix))
	if err != nil {
		return nil, fmt.Errorf("lock the index of catalog %s, to build it in %s: %w", digest, c.dir, err)
	}
	defer unlock()
	if x := c.open(ctx, path); x != nil {
		return x, nil // another client has built it in the meantime
	}
	bytes, err := c.weigh(ctx, fsys)
	if err != nil {
		return nil, c.refuse(path, fmt.Errorf("read catalog %s: %w", digest, err))
	}
	leave, err := c.lanes.enter(ctx, bytes)
	if err != nil {
		return nil, fmt.Errorf("build the index of catalog %s in %s: %w", digest, c.dir, err)
	}
	defer leave()
	x, err := func() (*catalog.Index, error) {
		defer thrifty()()
		return build(path)
	}()
	// Reading takes several times the memory that is needed afterwards. The one who
	// serves catalogs wants it back now, and not by and by.
	debug.FreeOSMemory()
	if err != nil {
		return nil, c.refuse(path, err)
	}
	return x, nil
}

// refuse returns the error about a content, with what raises the limit that it
// exceeds, and remembers it.
func (c *Cache) refuse(path string, err error) error {
	err = c.Advise(err)
	c.refused.note(path, err)
	return err
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

// path is the file of a kind for a content. Another build of the program, or the
// same with other limits, may judge catalogs in another way, so it has files of
// its own.
func (c *Cache) path(digest, suffix string) string {
	judge := c.program
	if c.Limits != (catalog.Limits{}) {
		judge += fmt.Sprintf(" %+v", c.Limits)
	}
	sum := sha256.Sum256([]byte(judge))
	return filepath.Join(c.dir, stem(digest)+hex.EncodeToString(sum[:8])+suffix)
}

// stem begins the names of all files for a content, whichever build wrote them.
func stem(digest string) string {
	sum := sha256.Sum256([]byte(digest))
	return hex.EncodeToString(sum[:]) + "-"
}

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

// Remove removes the index that this build of the program has of a content. One that is open stays readable, and none is no error.
func (c *Cache) Remove(digest string) error {
	if err := os.Remove(c.path(digest, indexSuffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the index of catalog %s: %w", digest, err)
	}
	return nil
}

// program identifies the build that is running: by its version or commit or,
// where that does not say it all, by its file.
var program = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		if id := identify(info); id != "" {
			return id
		}
	}
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	file, err := os.Stat(path)
	if err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%d bytes of %s", file.Size(), file.ModTime().UTC().Format("2006-01-02T15:04:05"))
})

// identify is the commit that the program was built from, or its version,
// empty if neither is known or the source was modified.
func identify(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	switch {
	case settings["vcs.modified"] == "true":
		return ""
	case settings["vcs.revision"] != "":
		return settings["vcs.revision"]
	case info.Main.Version != "" && info.Main.Version != "(devel)":
		return info.Main.Version
	}
	return ""
}
