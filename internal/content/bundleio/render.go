package bundleio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/template"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/packagemanifest"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"

	"golang.org/x/sync/errgroup"
)

// Renderer reads references. Its zero value works. It is safe for concurrent use, and must not be changed once it is used.
type Renderer struct {
	// Store keeps images. Nil means the one in the user's cache directory; see OpenStore.
	Store *image.Store
	// Config says how registries are reached when Store is nil.
	Config image.Config
	// Auth are credentials besides those of the user's auth file.
	Auth image.Auth
	// Allowed are the kinds of reference that are accepted; 0 means Any.
	Allowed Kinds
	// Migrations are applied to all that is read.
	Migrations catalog.MigrationLevel
	// Load says how the files of catalogs are read.
	Load catalog.LoadOptions
	// ImageRef, when set, gives the bundle of a bundle directory the image under which it will be published.
	ImageRef *template.Template
	// Workers is how many references are read at once; 0 means 4.
	Workers int
	// Warn, when set, is told what was passed over, in the order of the references.
	Warn func(ref, text string)
	// Progress, when set, is told how much of an image has been read. It must be quick.
	Progress func(ref string, read, total int64)

	once      sync.Once
	store     *image.Store
	err       error
	temporary string // directory of store, to be removed
}

// Render reads references and puts what they hold into one catalog, in their order. Duplicates are not merged.
//
// If all that is wrong is that objects of catalogs could not be read, the error is a *catalog.InvalidError and the Catalog holds
// everything else, as with catalog.Load. The places of objects name their reference if there is more than one.
func (r *Renderer) Render(ctx context.Context, refs ...string) (*catalog.Catalog, error) {
	found := make([]*result, len(refs))
	errs := make([]error, len(refs)) // the first in order is returned, whichever failed first
	var failed atomic.Bool
	var group errgroup.Group
	group.SetLimit(cmp.Or(r.Workers, 4))
	for i, ref := range refs {
		if errs[i] = context.Cause(ctx); failed.Load() || errs[i] != nil {
			break
		}
		group.Go(func() error {
			if found[i], errs[i] = r.one(ctx, ref); errs[i] != nil {
				failed.Store(true)
			}
			return nil
		})
	}
	_ = group.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	whole := &catalog.Catalog{}
	var partial error
	for i, f := range found {
		if len(refs) > 1 {
			ref := refs[i]
			f.catalog.EachPosition(func(p *catalog.Position) { p.File = path.Join(filepath.ToSlash(ref), p.File) })
		}
		c := f.catalog
		whole.Packages = append(whole.Packages, c.Packages...)
		whole.Channels = append(whole.Channels, c.Channels...)
		whole.Bundles = append(whole.Bundles, c.Bundles...)
		whole.Deprecations = append(whole.Deprecations, c.Deprecations...)
		whole.Others = append(whole.Others, c.Others...)
		whole.LoadProblems = append(whole.LoadProblems, c.LoadProblems...)
		partial = cmp.Or(partial, f.partial)
		for _, warning := range f.warnings {
			if r.Warn != nil {
				r.Warn(refs[i], warning)
			}
		}
	}
	if partial != nil && len(refs) > 1 { // all of them: the places name the references
		partial = fmt.Errorf("render %d references: %w", len(refs), whole.LoadProblems.Err())
	}
	return whole, partial
}

// result is what one reference holds.
type result struct {
	catalog  *catalog.Catalog
	bundle   *bundle.Bundle // if it is one
	warnings []string
	partial  error // an InvalidError
}

// one reads one reference; its error names it.
func (r *Renderer) one(ctx context.Context, ref string) (*result, error) {
	f, err := r.read(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("render %q: %w", ref, err)
	}
	// Put the parts of bundles in order: properties that carry manifests, which are long, come after all others, and related images
	// are sorted.
	for i := range f.catalog.Bundles {
		b := &f.catalog.Bundles[i]
		b.Properties = slices.Clone(b.Properties)
		slices.SortStableFunc(b.Properties, func(x, y catalog.Property) int { return weight(x.Type) - weight(y.Type) })
		b.Payloads = slices.Clone(b.Payloads)
		slices.SortStableFunc(b.Payloads, func(x, y catalog.Payload) int { return cmp.Compare(x.Index, y.Index) })
		for j := range b.Payloads {
			b.Payloads[j].Index = len(b.Properties) + j
		}
		b.RelatedImages = slices.Clone(b.RelatedImages)
		slices.SortStableFunc(b.RelatedImages, func(x, y catalog.RelatedImage) int { return strings.Compare(x.Image, y.Image) })
	}
	if r.Migrations != "" {
		if f.catalog, err = catalog.Migrate(f.catalog, r.Migrations); err != nil {
			return nil, fmt.Errorf("render %q: %w", ref, err)
		}
	}
	if f.partial != nil {
		f.partial = fmt.Errorf("render %q: %w", ref, f.partial)
	}
	return f, nil
}

func (r *Renderer) read(ctx context.Context, ref string) (*result, error) {
	kind, err := local(ref)
	if err != nil {
		return nil, err
	}
	if kind == 0 {
		return r.image(ctx, ref)
	}
	if err := r.Allowed.check(kind); err != nil {
		return nil, err
	}
	switch kind {
	case BundleDir:
		b, err := bundle.Load(os.DirFS(ref))
		if err != nil {
			return nil, err
		}
		if r.ImageRef != nil {
			if b.Image, err = imageRef(r.ImageRef, b); err != nil {
				return nil, fmt.Errorf("make an image reference: %w", err)
			}
		}
		return r.described(b)
	case PackageManifests:
		c, warnings, err := packagemanifest.Convert(ctx, os.DirFS(ref))
		f, err := loaded(c, err)
		if err == nil {
			f.warnings = warnings
		}
		return f, err
	case CatalogFile:
		file, err := os.Open(ref)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		start := make([]byte, len(sqliteHeader))
		if n, _ := file.ReadAt(start, 0); string(start[:n]) == sqliteHeader {
			return nil, errors.New("it is a sqlite database, which is not supported any more; render it to a file-based catalog with a version of opm up to 1.73")
		}
		f, err := loaded(catalog.LoadFile(ctx, filepath.Base(ref), file, r.Load))
		if err != nil || f.partial != nil {
			return f, err
		}
		// A directory may hold nothing, but a file that is named is meant to hold something.
		if c := f.catalog; len(c.Packages)+len(c.Channels)+len(c.Bundles)+len(c.Deprecations)+len(c.Others) == 0 {
			return nil, errors.New("the file holds no object of a catalog; name the directory, a file or the image of a catalog or of a bundle")
		}
		return f, nil
	}
	return loaded(catalog.Load(ctx, os.DirFS(ref), r.Load))
}

// loaded makes a result of what Load returns.
func loaded(c *catalog.Catalog, err error) (*result, error) {
	var invalid *catalog.InvalidError
	if err != nil && (c == nil || !errors.As(err, &invalid)) {
		return nil, err
	}
	return &result{catalog: c, partial: err}, nil
}

const sqliteHeader = "SQLite format 3\x00"

func weight(propertyType string) int {
	switch propertyType {
	case catalog.PropertyBundleObject, catalog.PropertyCSVMetadata:
		return 1
	}
	return 0
}
