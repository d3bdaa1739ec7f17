package bundleio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"fairlead.dev/fairlead/internal/content/image"
)

// OpenedBundle is a bundle that can be read.
type OpenedBundle struct {
	// FS holds its files.
	FS fs.FS
	// Image is the reference by digest that it was pulled with, empty for a directory.
	Image string

	close func() error
}

// Close releases the source.
func (s *OpenedBundle) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// Open opens the directory of a bundle, or its image.
func Open(ctx context.Context, r *Renderer, ref string) (*OpenedBundle, error) {
	info, err := os.Stat(ref)
	switch {
	case err == nil && info.IsDir():
		return &OpenedBundle{FS: os.DirFS(ref)}, nil
	case err == nil:
		return nil, fmt.Errorf("open bundle %s: it is a file; name the directory with manifests and metadata, or an image", ref)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open bundle %s: %w", ref, err)
	}
	return pull(ctx, r, ref, image.SelectBundle)
}

// pull reads the wanted files of an image.
func pull(ctx context.Context, r *Renderer, ref string, wanted func(map[string]string) (func(string) bool, error)) (*OpenedBundle, error) {
	if err := CheckImage(ref); err != nil {
		return nil, fmt.Errorf("open bundle %s: %w", ref, err)
	}
	store, err := r.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	o := image.PullOptions{Auth: r.Auth, Select: wanted}
	if r.Progress != nil {
		o.Progress = func(read, total int64) { r.Progress(ref, read, total) }
	}
	img, err := store.Pull(ctx, ref, o)
	if err != nil {
		return nil, fmt.Errorf("open bundle %s: %w", ref, err)
	}
	return &OpenedBundle{FS: img.FS(), Image: img.Pinned, close: img.Close}, nil
}
