package catalogserver

import (
	"context"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
)

// remote is a catalog in an image.
type remote struct {
	ref string
	*Origins
}

// String is the reference.
func (r remote) String() string { return "image " + r.ref }

// reader opens the store of images when it is needed.
func (r remote) reader() (catalogstore.ImageReader, error) {
	images, err := r.store()
	return catalogstore.ImageReader{Images: images, Indexes: r.cache}, err
}

// State is the digest that the registry has for the reference.
func (r remote) State(ctx context.Context) (string, error) {
	reader, err := r.reader()
	if err != nil {
		return "", err
	}
	return reader.Digest(ctx, r.ref, image.Auth{})
}

// Read pulls the image, as far as the store lacks it, and opens or builds the index.
func (r remote) Read(ctx context.Context) (*catalog.Index, error) {
	reader, err := r.reader()
	if err != nil {
		return nil, err
	}
	x, err := reader.Open(ctx, r.ref, image.Auth{})
	if err != nil {
		return nil, err
	}
	return r.accept(ctx, r.String(), x)
}
