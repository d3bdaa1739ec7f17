package authoring

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/bundleio"
)

// renderedCatalog reads the catalogs and bundles that a command was given: directories, files or images. As with catalog.Load, an
// *catalog.InvalidError comes with all that could be read. The renderer is not needed any more afterwards.
func renderedCatalog(ctx context.Context, s command.Streams, r *bundleio.Renderer, refs ...string) (c *catalog.Catalog, err error) {
	done := command.Attach(r, s)
	defer func() { err = errors.Join(err, done()) }()
	return r.Render(ctx, refs...)
}

// loadReadable reads what can be read of a catalog, and says on the error stream what cannot. Graphs are looked at when something
// is wrong, so that is no reason to refuse. whole is false when something was left out. Manifests are not kept.
func loadReadable(ctx context.Context, s command.Streams, ref string) (c *catalog.Catalog, whole bool, err error) {
	return readableCatalog(ctx, s, &bundleio.Renderer{Load: catalog.LoadOptions{DropPayloads: true}}, ref)
}

// readableCatalog is loadReadable, with manifests if the renderer reads them.
func readableCatalog(ctx context.Context, s command.Streams, r *bundleio.Renderer, ref string) (c *catalog.Catalog, whole bool, err error) {
	c, err = renderedCatalog(ctx, s, r, ref)
	var invalid *catalog.InvalidError
	if errors.As(err, &invalid) && c != nil {
		fmt.Fprintf(s.Err, "%v\nthe rest of the catalog is checked without it\n", err)
		return c, false, nil
	}
	return c, err == nil, err
}
