package catalogstore

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fairlead.dev/fairlead/catalog"
)

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
	if digest, err = writeDown(ctx, filepath.Join(dir, "catalog.json"), server, address); err != nil {
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

func writeDown(ctx context.Context, path string, server Server, address string) (string, error) {
	file, err := os.Create(path)
	if err != nil {
		return "", fmt.Errorf("make room for the catalog of %s: %w", address, err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	digest, err := server.Write(ctx, out)
	if err == nil {
		err = out.Flush()
	}
	return digest, errors.Join(err, file.Close())
}
