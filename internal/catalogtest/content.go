package catalogtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sync"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"

	"golang.org/x/sync/errgroup"
)

// named is a bundle by its package and its name in the catalog.
type named struct{ pkg, name string }

// content is what is known of the content of a bundle.
type content struct {
	bundle *bundle.Bundle
	// files are those of a directory, to be published; nil for an image that a registry has.
	files fs.FS
	// err is why it cannot be had, and broken says that the bundle is to blame rather than the way to it.
	err    error
	broken bool
}

// contents are the contents of bundles.
type contents map[named]*content

// has tells whether the content of a bundle can be had.
func (c contents) has(pkg, name string) bool {
	one := c[named{pkg, name}]
	return one != nil && one.bundle != nil
}

// bundle is a bundle by its name in the catalog; nil where it is not to be had.
func (c contents) bundle(pkg, name string) *bundle.Bundle {
	if one := c[named{pkg, name}]; one != nil {
		return one.bundle
	}
	return nil
}

// parallelReads is how many bundles are read at once.
const parallelReads = 4

// readDirectory reads the bundles of a catalog from a tree that is laid out as <package>/<version>/{manifests,metadata}. What the tree has and the catalog does
// not is left out. A directory that cannot be read is the content of the bundle of that version.
func readDirectory(c *catalog.Catalog, tree fs.FS) (contents, error) {
	dirs, err := fs.Glob(tree, "*/*/manifests")
	if err != nil || len(dirs) == 0 {
		return nil, fmt.Errorf("read the directory of bundles: %w", cmpErr(err, errors.New("there is none in it; lay them out as <package>/<version>/manifests and <package>/<version>/metadata")))
	}
	known, versions := map[named]bool{}, map[named]string{}
	for i := range c.Bundles {
		b := &c.Bundles[i]
		known[named{b.Package, b.Name}] = true
		if v, err := b.VersionRelease(); err == nil {
			versions[named{b.Package, v.String()}] = b.Name
		}
	}
	all := contents{}
	for _, dir := range dirs {
		dir = path.Dir(dir)
		files, err := fs.Sub(tree, dir)
		one := &content{files: files}
		if err == nil {
			one.bundle, err = bundle.Load(files)
		}
		key := named{path.Dir(dir), versions[named{path.Dir(dir), path.Base(dir)}]}
		if err != nil {
			one.err, one.broken = fmt.Errorf("read bundle directory %s: %w", dir, err), true
		} else {
			key.name = one.bundle.Name
		}
		if known[key] {
			all[key] = one
		}
	}
	return all, nil
}

// cmpErr is the first error that there is.
func cmpErr(errs ...error) error {
	return errs[slices.IndexFunc(errs, func(err error) bool { return err != nil })]
}

// readImages reads the bundles of packages from the images that the catalog names, or from the catalog where it holds them itself.
func readImages(ctx context.Context, c *catalog.Catalog, x *catalog.Index, r *bundleio.Renderer, packages map[string]bool) (contents, error) {
	all, mu := contents{}, sync.Mutex{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	for i := range c.Bundles {
		b := &c.Bundles[i]
		if !packages[b.Package] {
			continue
		}
		group.Go(func() error {
			one := &content{}
			one.bundle, one.err = readImage(ctx, x, r, b)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			switch image.KindOf(one.err) {
			case image.Unauthorized, image.RateLimited, image.Unavailable, image.Untrusted, image.LimitExceeded, image.Unverified:
			default:
				one.broken = one.err != nil
			}
			mu.Lock()
			defer mu.Unlock()
			all[named{b.Package, b.Name}] = one
			return nil
		})
	}
	return all, group.Wait()
}

func readImage(ctx context.Context, x *catalog.Index, r *bundleio.Renderer, b *catalog.Bundle) (*bundle.Bundle, error) {
	if b.Image == "" {
		info, ok := x.BundleV1(b.Package, b.Name)
		if !ok {
			return nil, fmt.Errorf("read bundle %s: it has no image, and the catalog does not serve its manifests", b.Name)
		}
		manifests, err := x.Manifests(info)
		if err != nil {
			return nil, fmt.Errorf("read the manifests of bundle %s from its catalog: %w", b.Name, err)
		}
		return bundle.FromManifests(manifests)
	}
	opened, err := bundleio.Open(ctx, r, b.Image)
	if err != nil {
		return nil, err
	}
	loaded, err := bundle.Load(opened.FS)
	if err != nil {
		err = fmt.Errorf("read bundle %s from image %s: %w", b.Name, b.Image, err)
	}
	return loaded, errors.Join(err, opened.Close())
}
