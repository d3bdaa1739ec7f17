package catalogstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"fairlead.dev/fairlead/catalog"
)

// attempts is how often a directory is read that changes meanwhile.
const attempts = 3

// errChanged is why an index was not kept.
var errChanged = errors.New("its files changed while they were read; retry when they are not being written")

// Dir is the index of the catalog in a directory. The caller may close it.
func (c *Cache) Dir(ctx context.Context, path string) (*catalog.Index, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open catalog %s: %w", path, err)
	}
	if info, err := os.Stat(absolute); err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("open catalog %s: it is not a directory", path)
	}
	d := directory{cache: c, path: absolute, fsys: os.DirFS(absolute)}
	for n := 1; ; n++ {
		x, err := d.index(ctx)
		if n == attempts || !errors.Is(err, errChanged) {
			return x, err
		}
	}
}

// directory is a catalog in a directory.
type directory struct {
	cache *Cache
	path  string
	fsys  fs.FS
}

// index opens or builds the index of what the directory holds now.
func (d *directory) index(ctx context.Context) (*catalog.Index, error) {
	before, err := look(ctx, d.fsys)
	if err != nil {
		return nil, err
	}
	if !d.cache.Enforce {
		if digest := d.cache.recall(d.path, before); digest != "" {
			if x := d.cache.open(ctx, d.cache.path(digest, indexSuffix)); x != nil {
				return x, nil
			}
		}
	}
	digest, err := catalog.Fingerprint(ctx, d.fsys)
	if err != nil {
		return nil, err
	}
	x, err := d.cache.index(ctx, digest, d.fsys, func(path string) (*catalog.Index, error) {
		return d.build(ctx, path, digest)
	})
	if err != nil {
		return nil, err
	}
	after, err := look(ctx, d.fsys)
	if err == nil && after.digest == before.digest && before.newest.Before(before.taken.Add(-granularity)) {
		d.cache.remember(d.path, before, digest)
	}
	return x, nil
}

// build builds the index under another name, and keeps it if the directory
// still has the content it is for.
func (d *directory) build(ctx context.Context, path, digest string) (*catalog.Index, error) {
	temp, err := os.CreateTemp(d.cache.dir, tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("build the index of catalog %s: %w", d.path, err)
	}
	defer os.Remove(temp.Name())
	if err := temp.Close(); err != nil {
		return nil, fmt.Errorf("build the index of catalog %s: %w", d.path, err)
	}
	x, err := catalog.Build(ctx, d.fsys, digest, temp.Name(), d.cache.options())
	if err != nil {
		return nil, err
	}
	again, err := catalog.Fingerprint(ctx, d.fsys)
	if err == nil && again != digest {
		err = fmt.Errorf("build the index of catalog %s: %w", d.path, errChanged)
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = x.Close()
		return nil, err
	}
	return x, nil
}
