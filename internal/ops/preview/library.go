package preview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/kubeconfig"

	"golang.org/x/net/http/httpproxy"
	"k8s.io/utils/clock"
)

// keepIndexes is how long an index that no one asks for is kept.
const keepIndexes = 7 * 24 * time.Hour

// Library reads catalogs. It keeps images and indexes in the user's cache directory, so that the next question is answered at once.
type Library struct {
	// Images opens what images are read with.
	Images  func(ctx context.Context) (*image.Store, error)
	indexes *catalogstore.Cache         // what the library made of catalogs
	temp    string                      // where indexes are kept when the user's cache directory cannot be written
	dial    atomic.Pointer[dialContext] // reaches Services of the cluster that is asked about; nil where none is
	tunnel  image.Tunnel
	held    Held // content that need not be read; nil where there is none
	shared  bool // by several users: see OpenShared
}

// dialContext connects to HOST:PORT.
type dialContext func(ctx context.Context, address string) (net.Conn, error)

// OpenLibrary opens the cache; r is where images are read with.
func OpenLibrary(ctx context.Context, r *bundleio.Renderer) (*Library, error) {
	l := &Library{Images: r.OpenStore}
	l.tunnel.Reaches = l.throughCluster
	l.tunnel.Dial = func(ctx context.Context, address string) (net.Conn, error) { return (*l.dial.Load())(ctx, address) }
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
func (l *Library) reach(dial dialContext) {
	if dial != nil && !l.shared { // a way of one user is none for others
		l.dial.Store(&dial)
	}
}

// throughCluster reports whether a registry is reached by way of the cluster, if not directly: a Service of it, or an address that may be the ClusterIP
// of one and that no proxy of the environment is for.
func (l *Library) throughCluster(host string) bool {
	if l.dial.Load() == nil {
		return false
	}
	if _, ok := kubeconfig.ServiceOf(host); ok {
		return true
	}
	ip := net.ParseIP(host)
	if !kubeconfig.MayBeClusterIP(ip) {
		return false
	}
	proxy, err := httpproxy.FromEnvironment().ProxyFunc()(&url.URL{Scheme: "https", Host: net.JoinHostPort(host, "443")})
	return proxy == nil && err == nil
}

// read reads a catalog that a user names, unless it is read already.
func (l *Library) read(ctx context.Context, c Catalog) (*catalog.Index, error) {
	if c.Index != nil {
		return c.Index, nil
	}
	return l.Read(ctx, c.Source)
}

// Read reads a directory or, where there is none, an image.
func (l *Library) Read(ctx context.Context, source string) (*catalog.Index, error) {
	if l.shared {
		if !IsReference(source) {
			return nil, errors.New("directories are not read here: name an image, with the host of its registry")
		}
		return l.Image(ctx, source, image.Auth{})
	}
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
	case !IsReference(source):
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
	return x, l.Explain(err)
}

// Explain says of a registry that does not answer by which way it was asked, and what to do: the manager may reach it nevertheless.
func (l *Library) Explain(err error) error {
	e := (*image.Error)(nil)
	if !errors.As(err, &e) || e.Kind != image.Unavailable {
		return err
	}
	registry, _, _ := strings.Cut(e.Ref, "/")
	host := (&url.URL{Host: registry}).Hostname()
	service, named := kubeconfig.ServiceOf(host)
	switch through := l.throughCluster(host); {
	case through && named:
		return fmt.Errorf("%w; it was asked as Service %s of the cluster: kubectl -n %s get service,pods shows whether it and its pods are there", err, service, service.Namespace)
	case named:
		return fmt.Errorf("%w; it was asked from this machine, as no cluster is asked: Service %s is reached where a cluster is named, or in a pod of it", err, service)
	case through:
		return fmt.Errorf("%w; it was asked from this machine: if a Service of the cluster has this address, and only the cluster reaches it, use the name of the Service, NAME.NAMESPACE.svc, "+
			"or name it as a mirror in registries.conf", err)
	}
	return fmt.Errorf("%w; it was asked from this machine: where only the cluster reaches it, name a mirror in registries.conf, or run the command in a pod of the cluster", err)
}

// Fetch gets a bundle as the manager does.
func (l *Library) Fetch(ctx context.Context, r bundleio.Request) (*bundle.Bundle, error) {
	store, err := l.Images(ctx)
	if err != nil {
		return nil, err
	}
	state, err := bundleio.NewUnpacker(store, clock.RealClock{}, func() {}).Fetch(ctx, r)
	if err == nil {
		err = state.Err
	}
	return state.Bundle, l.Explain(err)
}

// IsReference reports whether a text can be the reference of an image, with the host of its registry.
func IsReference(source string) bool {
	host, _, ok := strings.Cut(source, "/")
	return ok && host != "." && host != ".." && (strings.ContainsAny(host, ".:") || host == "localhost")
}
