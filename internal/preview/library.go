package preview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogcache"
	"fairlead.dev/fairlead/internal/image"
	"fairlead.dev/fairlead/internal/render"
)

// keepIndexes is how long an index that nobody asks for is kept.
const keepIndexes = 7 * 24 * time.Hour

// Library reads catalogs. It keeps images and indexes in the user's cache directory, so that the next question is answered at once.
type Library struct {
	images  func(ctx context.Context) (*image.Store, error)
	indexes *catalogcache.Cache
	temp    string // where indexes are kept when the user's cache directory cannot be written
}

// OpenLibrary opens the cache; r is where images are read with.
func OpenLibrary(ctx context.Context, r *render.Renderer) (*Library, error) {
	l := &Library{images: r.OpenStore}
	dir, err := render.CacheDir()
	if err == nil {
		if l.indexes, err = catalogcache.Open(filepath.Join(dir, "indexes")); err == nil {
			_, err = l.indexes.GC(ctx, keepIndexes)
			return l, err
		}
	}
	temp, tempErr := os.MkdirTemp("", "fairlead-indexes-")
	if tempErr != nil {
		return nil, fmt.Errorf("keep the indexes of catalogs: %w; set OLM_CACHE_DIR to a directory that can be written", errors.Join(err, tempErr))
	}
	l.temp = temp
	l.indexes, err = catalogcache.Open(temp)
	return l, err
}

// Close removes what is not worth keeping.
func (l *Library) Close() error {
	if l.temp == "" {
		return nil
	}
	return os.RemoveAll(l.temp)
}

// read reads a directory or, where there is none, an image.
func (l *Library) read(ctx context.Context, source string) (*catalog.Index, error) {
	info, err := os.Stat(source)
	switch {
	case err == nil && !info.IsDir():
		return nil, errors.New("it is a file; name the directory that holds the catalog's files")
	case err == nil:
		x, err := l.indexes.Dir(ctx, source)
		if err != nil {
			return nil, err
		}
		return useful(x, source)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !isReference(source):
		return nil, fmt.Errorf("there is no such directory, and the reference of an image begins with the host of its registry: %w", err)
	}
	return l.image(ctx, source, image.Auth{})
}

// image reads the catalog in an image, as the CatalogSource controller does.
func (l *Library) image(ctx context.Context, ref string, auth image.Auth) (*catalog.Index, error) {
	store, err := l.images(ctx)
	if err != nil {
		return nil, err
	}
	img, err := store.Pull(ctx, ref, image.PullOptions{Auth: auth, Select: image.SelectCatalog})
	if err != nil {
		return nil, err
	}
	defer img.Close()
	dir, err := image.CatalogDir(img.Labels)
	if err != nil {
		return nil, fmt.Errorf("image %s holds no file-based catalog: %w", img.Ref, err)
	}
	tree, err := fs.Sub(img.FS(), dir)
	if err != nil {
		return nil, fmt.Errorf("read directory %s of image %s: %w", dir, img.Ref, err)
	}
	x, err := l.indexes.FS(ctx, img.Digest, tree)
	if err != nil {
		return nil, fmt.Errorf("index the catalog in directory %s of image %s: %w", dir, img.Ref, err)
	}
	return useful(x, "image "+img.Ref)
}

// isReference tells whether a text can be the reference of an image, with the host of its registry.
func isReference(source string) bool {
	host, _, ok := strings.Cut(source, "/")
	return ok && host != "." && host != ".." && (strings.ContainsAny(host, ".:") || host == "localhost")
}

// useful refuses a catalog without any package, and says what is wrong with it.
func useful(x *catalog.Index, where string) (*catalog.Index, error) {
	if len(x.PackageNames()) > 0 {
		return x, nil
	}
	err := fmt.Errorf("%s holds no package", where)
	if wrong := x.Problems().Err(); wrong != nil {
		err = fmt.Errorf("%s holds no usable package: %w", where, wrong)
	}
	return nil, errors.Join(err, x.Close())
}
