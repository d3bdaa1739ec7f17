package catalogstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
)

// ImageReader reads catalogs from a registry. It is safe for concurrent use.
type ImageReader struct {
	// Images keeps what is pulled.
	Images *image.Store
	// Indexes keeps what is made of it.
	Indexes *Cache
	// V1 is set by readers of catalogs for the v1 API, which serves more of a broken one.
	V1 bool
}

// Digest is what a reference stands for now; content with a digest that was read before need not be read again.
func (r ImageReader) Digest(ctx context.Context, ref string, auth image.Auth) (string, error) {
	return r.Images.Digest(ctx, ref, auth)
}

// Read is the index of the catalog in an image, and the digest of that image. It refuses one without a package. The caller may close the
// index.
func (r ImageReader) Read(ctx context.Context, ref string, auth image.Auth) (*catalog.Index, string, error) {
	return r.ReadFor(ctx, ref, "", auth)
}

// ReadFor is Read of what a requested reference was resolved to. A signature policy judges the requested one; empty is ref itself.
func (r ImageReader) ReadFor(ctx context.Context, ref, requested string, auth image.Auth) (*catalog.Index, string, error) {
	x, digest, where, err := r.open(ctx, ref, requested, auth)
	if err == nil {
		check := CheckImage
		if r.V1 {
			check = CheckImageV1
		}
		err = check(x, where)
	}
	if err != nil && x != nil {
		return nil, "", errors.Join(err, x.Close())
	}
	return x, digest, err
}

// Open is Read for callers who judge the index themselves.
func (r ImageReader) Open(ctx context.Context, ref string, auth image.Auth) (*catalog.Index, error) {
	x, _, _, err := r.open(ctx, ref, "", auth)
	return x, err
}

// open also says where the catalog is.
func (r ImageReader) open(ctx context.Context, ref, requested string, auth image.Auth) (x *catalog.Index, digest, where string, err error) {
	most := r.Indexes.Limits.TotalBytes // a catalog that may be read can be pulled
	img, err := r.Images.Pull(ctx, ref, image.PullOptions{Auth: auth, Select: image.SelectCatalog, Requested: requested,
		Limits: image.Limits{KeptBytes: most, FileBytes: most}})
	if image.KindOf(err) == image.LimitExceeded && r.Indexes.Flags["TotalBytes"] != "" {
		err = fmt.Errorf("%w; the size of catalogs is limited by %s", err, r.Indexes.Flags["TotalBytes"])
	}
	if err != nil {
		return nil, "", "", err
	}
	defer img.Close()
	dir, err := image.CatalogDir(img.Labels)
	if err != nil {
		return nil, "", "", fmt.Errorf("image %s holds no file-based catalog: %w", img.Ref, err)
	}
	where = fmt.Sprintf("directory %s of image %s", dir, img.Ref)
	tree, err := fs.Sub(img.FS(), dir)
	if err != nil {
		return nil, "", "", fmt.Errorf("read %s: %w", where, err)
	}
	if x, err = r.Indexes.FS(ctx, img.Digest, tree); err != nil {
		return nil, "", "", fmt.Errorf("index the catalog in %s: %w", where, err)
	}
	return x, img.Digest, where, nil
}

// ErrNoPackage is in the chain of the error about a catalog without any package that can be used.
var ErrNoPackage = errors.New("no usable package")

// noPackage says more than that.
type noPackage struct{ error }

// Is makes it an ErrNoPackage.
func (noPackage) Is(target error) bool { return target == ErrNoPackage }

// Unwrap returns the cause.
func (e noPackage) Unwrap() error { return e.error }

// CheckImage refuses an index without any package, which no one can want to be served, and says what is wrong with the content of where.
func CheckImage(x *catalog.Index, where string) error {
	return checkNames(x, x.PackageNames(), where)
}

// CheckImageV1 is Check for the v1 API, which serves channels that v0 leaves out.
func CheckImageV1(x *catalog.Index, where string) error {
	return checkNames(x, x.PackageNamesV1(), where)
}

func checkNames(x *catalog.Index, names []string, where string) error {
	if len(names) > 0 {
		return nil
	}
	if wrong := x.Problems().Err(); wrong != nil {
		return noPackage{fmt.Errorf("%s holds no usable package: %w", where, wrong)}
	}
	return noPackage{fmt.Errorf("%s holds no package; name the place of a catalog", where)}
}

// Server writes everything that a registry server says as a catalog, and returns its digest.
type Server interface {
	Write(ctx context.Context, w io.Writer) (digest string, err error)
}

// FromServer makes the index of what a server at an address says. It is nil when that is known, which is asked with the digest. It goes by
// way of a file, as it can be large. What check refuses is not returned, such as a catalog without a package.
func FromServer(ctx context.Context, indexes *Cache, server Server, address string, known func(digest string) bool, check func(*catalog.Index, string) error) (digest string, _ *catalog.Index, err error) {
	dir, err := os.MkdirTemp("", "fairlead-catalog-")
	if err != nil {
		return "", nil, fmt.Errorf("make room for the catalog of %s: %w", address, err)
	}
	defer os.RemoveAll(dir) // the index does not need it any more
	file, err := os.Create(filepath.Join(dir, "catalog.json"))
	if err != nil {
		return "", nil, fmt.Errorf("make room for the catalog of %s: %w", address, err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	if digest, err = server.Write(ctx, out); err == nil {
		err = out.Flush()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", nil, indexes.Advise(err)
	}
	if known(digest) {
		return digest, nil, nil
	}
	index, err := indexes.FS(ctx, digest, os.DirFS(dir))
	if err != nil {
		return "", nil, fmt.Errorf("index the catalog of %s: %w", address, err)
	}
	if err := check(index, "the registry server at "+address); err != nil {
		return "", nil, errors.Join(err, index.Close())
	}
	return digest, index, nil
}
