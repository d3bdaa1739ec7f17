package origin

import (
	"context"
	"fmt"
	"io/fs"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/image"
)

// remote is a catalog in an image.
type remote struct {
	ref string
	*Origins
}

// String is the reference.
func (r remote) String() string { return "image " + r.ref }

// State is the digest that the registry has for the reference.
func (r remote) State(ctx context.Context) (string, error) {
	images, err := r.store()
	if err != nil {
		return "", err
	}
	return images.Digest(ctx, r.ref, image.Auth{})
}

// Read pulls the image, as far as the store lacks it, and opens or builds the index.
func (r remote) Read(ctx context.Context) (*catalog.Index, error) {
	images, err := r.store()
	if err != nil {
		return nil, err
	}
	img, err := images.Pull(ctx, r.ref, image.PullOptions{Select: image.SelectCatalog})
	if err != nil {
		return nil, err
	}
	defer img.Close()
	dir, err := image.CatalogDir(img.Labels)
	if err != nil {
		return nil, fmt.Errorf("it holds no file-based catalog: %w", err)
	}
	tree, err := fs.Sub(img.FS(), dir)
	if err != nil {
		return nil, fmt.Errorf("read its directory %s: %w", dir, err)
	}
	x, err := r.cache.FS(ctx, img.Digest, tree)
	if err != nil {
		return nil, err
	}
	return r.accept(ctx, r.String(), x)
}
