package catalogserver

import (
	"context"
	"os"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
)

// directory is a catalog in a directory.
type directory struct {
	path string
	*Origins
}

// String is the path.
func (d directory) String() string { return "directory " + d.path }

// State is what can be told of the files without reading them.
func (d directory) State(ctx context.Context) (string, error) {
	if _, err := os.Stat(d.path); err != nil {
		return "", err
	}
	return catalogstore.State(ctx, os.DirFS(d.path))
}

// Read opens or builds the index.
func (d directory) Read(ctx context.Context) (*catalog.Index, error) {
	x, err := d.cache.Dir(ctx, d.path)
	if err != nil {
		return nil, err
	}
	return d.accept(ctx, d.String(), x)
}
