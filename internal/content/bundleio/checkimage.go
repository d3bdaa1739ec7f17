package bundleio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/content/image"
)

// labelDatabase is on images of catalogs as they were before there were files.
const labelDatabase = "operators.operatorframework.io.index.database.v1"

// image reads a reference that is not on disk.
func (r *Renderer) image(ctx context.Context, ref string) (*result, error) {
	if err := CheckImage(ref); err != nil {
		return nil, err
	}
	if r.Allowed != 0 && r.Allowed&Images == 0 {
		return nil, fmt.Errorf("there is no file or directory of that name, and images are not allowed here; give a %s", r.Allowed)
	}
	img, err := r.pull(ctx, ref)
	if err != nil {
		if image.KindOf(err) == image.NotFound {
			return nil, fmt.Errorf("there is no file or directory of that name, so it was taken for an image: %w", err)
		}
		return nil, err
	}
	defer img.Close()
	if kindOf(img.Labels) == CatalogImage {
		dir, err := image.CatalogDir(img.Labels)
		if err != nil {
			return nil, err
		}
		tree, err := fs.Sub(img.FS(), dir)
		if err != nil {
			return nil, err
		}
		if _, err := fs.Stat(tree, "."); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("the image has no files in %s, where its label %s says that the catalog is", dir, image.LabelConfigs)
		}
		return loaded(catalog.Load(ctx, tree, r.Load))
	}
	b, err := bundle.Load(img.FS())
	if err != nil {
		return nil, err
	}
	b.Image = ref
	b.Package = cmp.Or(b.Package, strings.TrimSpace(img.Labels[image.LabelPackage]))
	return r.described(b)
}

func (r *Renderer) pull(ctx context.Context, ref string) (*image.Image, error) {
	store, err := r.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	o := image.PullOptions{Auth: r.Auth, Select: r.wanted}
	if r.Progress != nil {
		o.Progress = func(read, total int64) { r.Progress(ref, read, total) }
	}
	return store.Pull(ctx, ref, o)
}

// wanted chooses the files of an image that are read, by what its labels say it is.
func (r *Renderer) wanted(labels map[string]string) (func(path string) bool, error) {
	kind := kindOf(labels)
	if kind == 0 {
		e := &image.Error{Kind: image.InvalidImage, Advice: "name the image of a catalog or of a bundle"}
		_, isDatabase := labels[labelDatabase]
		switch {
		case isDatabase:
			e.Reason = "sqlite-based index images are no longer supported"
			e.Advice = "render it to a file-based catalog with a version of opm up to 1.73, or take a newer image of the catalog"
		case len(labels) == 0:
			e.Reason = "image type could not be determined: image has no labels"
		default:
			e.Reason = "image type could not be determined, found labels " + safetext.List(slices.Sorted(maps.Keys(labels)), 20, ", ")
		}
		return nil, e
	}
	if err := r.Allowed.check(kind); err != nil {
		return nil, &image.Error{Kind: image.InvalidImage, Reason: err.Error(), Advice: "name another reference"}
	}
	if kind == CatalogImage {
		return image.SelectCatalog(labels)
	}
	return image.SelectBundle(labels)
}

// kindOf tells what an image is; 0 if it is neither.
func kindOf(labels map[string]string) Kinds {
	if _, ok := labels[image.LabelConfigs]; ok {
		return CatalogImage
	}
	if _, ok := labels[image.LabelPackage]; ok {
		return BundleImage
	}
	return 0
}
