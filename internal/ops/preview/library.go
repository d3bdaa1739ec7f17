package preview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
)

// keepIndexes is how long an index that no one asks for is kept.
const keepIndexes = 7 * 24 * time.Hour

// Library reads catalogs. It keeps images and indexes in the user's cache directory, so that the next question is answered at once.
type Library struct {
	// Images opens what images are read with.
	Images  func(ctx context.Context) (*image.Store, error)
	indexes *catalogstore.Cache                                         // what the library made of catalogs
	temp    string                                                      // where indexes are kept when the user's cache directory cannot be written
	dial    func(ctx context.Context, address string) (net.Conn, error) // reaches Services of the cluster that is asked about; nil where none is
	tunnel  image.Tunnel
}

// OpenLibrary opens the cache; r is where images are read with.
func OpenLibrary(ctx context.Context, r *bundleio.Renderer) (*Library, error) {
	l := &Library{Images: r.OpenStore}
	l.tunnel = image.Tunnel{Dial: func(ctx context.Context, address string) (net.Conn, error) { return l.dial(ctx, address) },
		Reaches: func(host string) bool { return l.dial != nil && isService(host) }}
	if r.Config.Proxy == nil {
		r.Config.Proxy = l.tunnel.Proxy
	}
	dir, err := bundleio.CacheDir()
	if err == nil {
		if l.indexes, err = catalogstore.OpenCache(filepath.Join(dir, "indexes")); err == nil {
			_, err = l.indexes.GC(ctx, keepIndexes)
			return l, err
		}
	}
	temp, tempErr := os.MkdirTemp("", "fairlead-indexes-")
	if tempErr != nil {
		return nil, fmt.Errorf("keep the indexes of catalogs: %w; set OLM_CACHE_DIR to a directory that can be written", errors.Join(err, tempErr))
	}
	l.temp = temp
	l.indexes, err = catalogstore.OpenCache(temp)
	return l, err
}

// Close removes what is not worth keeping.
func (l *Library) Close() error {
	err := l.tunnel.Close()
	if l.temp == "" {
		return err
	}
	return errors.Join(err, os.RemoveAll(l.temp))
}

// reach lets images be read that a dial function reaches; nil changes nothing.
func (l *Library) reach(dial func(ctx context.Context, address string) (net.Conn, error)) {
	if dial != nil {
		l.dial = dial
	}
}

// isService reports whether a host is that of a Service, as pods name it: NAME.NAMESPACE.svc, whatever the domain of the cluster.
func isService(host string) bool {
	labels := strings.Split(host, ".")
	return len(labels) > 2 && labels[2] == "svc"
}

// Read reads a directory or, where there is none, an image.
func (l *Library) Read(ctx context.Context, source string) (*catalog.Index, error) {
	info, err := os.Stat(source)
	switch {
	case err == nil && !info.IsDir():
		return nil, errors.New("it is a file; name the directory that holds the catalog's files")
	case err == nil:
		x, err := l.indexes.Dir(ctx, source)
		if err != nil {
			return nil, err
		}
		if err := catalogstore.CheckImageV1(x, source); err != nil {
			return nil, errors.Join(err, x.Close())
		}
		return x, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case !isReference(source):
		return nil, fmt.Errorf("there is no such directory, and the reference of an image begins with the host of its registry: %w", err)
	}
	return l.Image(ctx, source, image.Auth{})
}

// Image reads the catalog in an image, as the controllers of catalogs do.
func (l *Library) Image(ctx context.Context, ref string, auth image.Auth) (*catalog.Index, error) {
	store, err := l.Images(ctx)
	if err != nil {
		return nil, err
	}
	x, _, err := catalogstore.ImageReader{Images: store, Indexes: l.indexes, V1: true}.Read(ctx, ref, auth)
	return x, FromHere(err)
}

// FromHere says of a registry that does not answer where it was asked from: the manager may reach it nevertheless.
func FromHere(err error) error {
	if e := (*image.Error)(nil); errors.As(err, &e) && e.Kind == image.Unavailable {
		return fmt.Errorf("%w; it was asked from this machine: where only the cluster reaches it, name a mirror in registries.conf, or run the command in a pod of the cluster", err)
	}
	return err
}

// isReference tells whether a text can be the reference of an image, with the host of its registry.
func isReference(source string) bool {
	host, _, ok := strings.Cut(source, "/")
	return ok && host != "." && host != ".." && (strings.ContainsAny(host, ".:") || host == "localhost")
}
