package catalogsource

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/catalogcache"
	"fairlead.dev/fairlead/internal/image"
	"fairlead.dev/fairlead/internal/unpack"
)

// loader gets the content of catalog images.
type loader interface {
	digest(ctx context.Context, ref string, auth image.Auth) (string, error)
	load(ctx context.Context, ref string, auth image.Auth) (*catalog.Index, string, error)
}

// look brings what is known of a catalog up to date.
func (c *Controller) look(ctx context.Context, source *v1alpha1.CatalogSource, known content) content {
	known.looked = c.clock.Now()
	if known.invalid = validate(source); known.invalid != nil {
		// Whoever changes the spec wants something else than what was served; that must not go on being installed.
		known.index, known.digest = nil, ""
		return known
	}
	index, digest, err := c.fetch(ctx, source, known)
	if err != nil {
		known.problem = err
		known.attempts++
		return known
	}
	known.problem, known.attempts = nil, 0
	if index != nil {
		known.index, known.digest, known.loaded = index, digest, known.looked
		known.warnings = describe(index.Problems())
	}
	return known
}

// fetch loads the image when it is another one than is being served; a nil index means that there is nothing new.
func (c *Controller) fetch(ctx context.Context, source *v1alpha1.CatalogSource, known content) (*catalog.Index, string, error) {
	auth, err := unpack.PullSecrets(ctx, c.reader, source.Namespace, source.Spec.Secrets)
	if err != nil {
		return nil, "", err
	}
	if known.index != nil {
		digest, err := c.loader.digest(ctx, source.Spec.Image, auth)
		if err != nil || digest == known.digest {
			return nil, "", err
		}
	}
	return c.loader.load(ctx, source.Spec.Image, auth)
}

// validate tells what is wrong with a spec that cannot be acted on.
func validate(source *v1alpha1.CatalogSource) error {
	spec := source.Spec
	switch spec.SourceType {
	case v1alpha1.SourceTypeGrpc:
		if spec.Image == "" && spec.Address == "" {
			return errors.New("image and address unset: at least one must be set for sourcetype: grpc")
		}
		if spec.Image == "" {
			return fmt.Errorf("address %s: catalogs of a remote registry server are not read by this version; set spec.image", spec.Address)
		}
		return nil
	case v1alpha1.SourceTypeConfigmap, v1alpha1.SourceTypeInternal:
		if spec.ConfigMap == "" {
			return fmt.Errorf("configmap name unset: must be set for sourcetype: %s", spec.SourceType)
		}
		return fmt.Errorf("sourcetype %s: catalogs in a ConfigMap are not read by this version; use sourcetype grpc with spec.image", spec.SourceType)
	}
	return fmt.Errorf("unknown sourcetype: %s", spec.SourceType)
}

// fingerprint is the part of the spec that says which content is wanted.
func fingerprint(source *v1alpha1.CatalogSource) string {
	spec := source.Spec
	return fmt.Sprintf("%q %q %q %q %q", spec.SourceType, spec.Image, spec.Address, spec.ConfigMap, spec.Secrets)
}

// imageLoader reads catalogs from a registry, each content once.
type imageLoader struct {
	store *image.Store
	cache *catalogcache.Cache
}

func (l imageLoader) digest(ctx context.Context, ref string, auth image.Auth) (string, error) {
	return l.store.Digest(ctx, ref, auth)
}

func (l imageLoader) load(ctx context.Context, ref string, auth image.Auth) (*catalog.Index, string, error) {
	img, err := l.store.Pull(ctx, ref, image.PullOptions{Auth: auth, Select: image.SelectCatalog})
	if err != nil {
		return nil, "", err
	}
	defer img.Close()
	index, err := l.index(ctx, img)
	return index, img.Digest, err
}

func (l imageLoader) index(ctx context.Context, img *image.Image) (*catalog.Index, error) {
	dir, err := image.CatalogDir(img.Labels)
	if err != nil {
		return nil, fmt.Errorf("image %s holds no file-based catalog: %w", img.Ref, err)
	}
	tree, err := fs.Sub(img.FS(), dir)
	if err != nil {
		return nil, fmt.Errorf("read directory %s of image %s: %w", dir, img.Ref, err)
	}
	index, err := l.cache.FS(ctx, img.Digest, tree)
	if err != nil {
		return nil, fmt.Errorf("index the catalog in directory %s of image %s: %w", dir, img.Ref, err)
	}
	if len(index.PackageNames()) == 0 {
		if found := describe(index.Problems()); found != "" {
			return nil, fmt.Errorf("the catalog in directory %s of image %s has no usable package: %s", dir, img.Ref, found)
		}
		return nil, fmt.Errorf("directory %s of image %s holds no package; correct spec.image", dir, img.Ref)
	}
	return index, nil
}
