package bundleio

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
)

// parallelPushes is how many images are pushed at once.
const parallelPushes = 4

// Publisher pushes images to one registry.
type Publisher struct {
	// Registry is host:port, with a path where images are to be below one.
	Registry string
	Options  image.PushOptions
}

// PublishedBundle is a bundle in the registry.
type PublishedBundle struct {
	Bundle *bundle.Bundle
	Image  string // by digest
}

// BundleSource is a bundle directory.
type BundleSource struct {
	Bundle *bundle.Bundle
	files  fs.FS
}

// ReadSource reads the bundle directories of a tree, laid out as <package>/<version>/{manifests,metadata}, and returns them by package and
// version. The error names all that cannot be read.
func ReadSource(tree fs.FS) ([]BundleSource, error) {
	if _, err := fs.Stat(tree, "."); err != nil {
		return nil, fmt.Errorf("look for bundles: %w", err)
	}
	dirs, err := fs.Glob(tree, "*/*/manifests")
	if err != nil {
		return nil, fmt.Errorf("look for bundles: %w", err)
	}
	if len(dirs) == 0 {
		return nil, errors.New("look for bundles: there is none; lay them out as <package>/<version>/manifests and <package>/<version>/metadata")
	}
	sources := make([]BundleSource, len(dirs))
	var failures []error
	for i, dir := range dirs {
		files, err := fs.Sub(tree, path.Dir(dir))
		if err == nil {
			sources[i].files = files
			sources[i].Bundle, err = bundle.Load(files)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("bundle %s: %w", path.Dir(dir), err))
		}
	}
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	slices.SortFunc(sources, func(a, b BundleSource) int {
		return cmp.Or(cmp.Compare(a.Bundle.Package, b.Bundle.Package), a.Bundle.Version.Compare(b.Bundle.Version), cmp.Compare(a.Bundle.Name, b.Bundle.Name))
	})
	return sources, nil
}

// Push pushes the images of bundles and returns them in the same order.
func (p Publisher) Push(ctx context.Context, sources []BundleSource) ([]PublishedBundle, error) {
	published := make([]PublishedBundle, len(sources))
	failures := make([]error, len(sources))
	var group sync.WaitGroup
	slots := make(chan struct{}, parallelPushes)
	for i, source := range sources {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			b := source.Bundle
			published[i].Bundle = b
			repository := fmt.Sprintf("%s/%s-bundle", p.Registry, b.Package)
			tag := "v" + strings.ReplaceAll(b.Version.String(), "+", "-")
			digest, err := image.Push(ctx, repository+":"+tag, source.files, image.BundleLabels(b.Package, b.Channels, b.DefaultChannel), p.Options)
			if err != nil {
				failures[i] = err
				return
			}
			published[i].Image = repository + "@" + digest
		})
	}
	group.Wait()
	return published, errors.Join(failures...)
}

// Bundles reads the bundle directories of a tree and pushes them. When one cannot be read none is pushed.
func (p Publisher) Bundles(ctx context.Context, tree fs.FS) ([]PublishedBundle, error) {
	sources, err := ReadSource(tree)
	if err != nil {
		return nil, err
	}
	return p.Push(ctx, sources)
}

// Catalog pushes a catalog image under Registry/name and returns its digest.
func (p Publisher) Catalog(ctx context.Context, c *catalog.Catalog, name string) (digest string, err error) {
	var content bytes.Buffer
	if err := catalog.WriteJSON(&content, c); err != nil {
		return "", fmt.Errorf("write catalog %s: %w", name, err)
	}
	files, err := image.Files(map[string][]byte{"configs/catalog.json": content.Bytes()})
	if err != nil {
		return "", fmt.Errorf("lay out catalog %s: %w", name, err)
	}
	return image.Push(ctx, p.Registry+"/"+name, files, image.CatalogLabels(), p.Options)
}
