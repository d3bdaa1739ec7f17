package bundleio

import (
	"context"

	"fairlead.dev/fairlead/internal/content/image"
)

// OpenStore returns the store that images are read with, for what is asked of images besides rendering them. It is that of the
// Renderer, which opens one when it is needed first, and lasts until Close.
func (r *Renderer) OpenStore(ctx context.Context) (*image.Store, error) { return r.images(ctx) }
