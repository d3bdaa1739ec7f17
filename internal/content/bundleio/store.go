package bundleio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fairlead.dev/fairlead/internal/content/image"
)

// cacheBytes is how much the images in the user's cache directory may take; those that were not used for the longest time go first.
const cacheBytes = 4 << 30

// retries is how often to try again what may work in a second: no one else does, and much may have been read before.
const retries = 2

// CacheDir is where images are kept between runs: below $OLM_CACHE_DIR, or else in the user's cache directory.
func CacheDir() (string, error) {
	if dir := os.Getenv("OLM_CACHE_DIR"); dir != "" {
		return filepath.Join(dir, "fairlead"), nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache directory: %w", err)
	}
	return filepath.Join(dir, "fairlead", "images"), nil
}

// OpenStore returns the store that images are read with, also for what is asked of images besides rendering them. It is that of the Renderer,
// which opens one when it is needed first, and lasts until Close.
func (r *Renderer) OpenStore(ctx context.Context) (*image.Store, error) {
	r.once.Do(func() {
		if r.store = r.Store; r.store == nil {
			r.store, r.err = r.open(ctx)
		}
	})
	return r.store, r.err
}

// open opens the store in the user's cache directory. Where none can be written there is a temporary one.
func (r *Renderer) open(ctx context.Context) (*image.Store, error) {
	config := r.Config
	config.Retries = cmp.Or(config.Retries, retries)
	dir, err := CacheDir()
	if err == nil {
		var store *image.Store
		if store, err = image.Open(dir, config); err == nil {
			// A store that is there already need not be one that can be written.
			var probe *os.File
			if probe, err = os.CreateTemp(filepath.Join(dir, "tmp"), "probe-"); err == nil {
				err = errors.Join(probe.Close(), os.Remove(probe.Name()))
			}
		}
		if err == nil {
			_, err = store.GC(ctx, nil, cacheBytes)
			return store, err
		}
	}
	temporary, tempErr := os.MkdirTemp("", "fairlead-images-")
	if tempErr != nil {
		return nil, fmt.Errorf("keep images: %w; set OLM_CACHE_DIR to a directory that can be written", errors.Join(err, tempErr))
	}
	r.temporary = temporary
	return image.Open(temporary, config)
}

// Close removes what is not worth keeping. The Renderer is not to be used afterwards.
func (r *Renderer) Close() error {
	if r.temporary == "" {
		return nil
	}
	return os.RemoveAll(r.temporary)
}
