package catalog

import (
	"context"
	"io"
)

// LoadFile reads one stream of objects, with the rules and results of Load.
// Problems call it name.
func LoadFile(ctx context.Context, name string, content io.Reader, opts LoadOptions) (*Catalog, error) {
	l := newLoader([]string{name}, opts)
	l.open = func(string) (io.ReadCloser, error) { return io.NopCloser(content), nil }
	c, err := l.load(ctx)
	if err != nil {
		return nil, err
	}
	return c, c.LoadProblems.Err()
}
