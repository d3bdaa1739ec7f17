package catalogserver

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
)

// Options say how catalogs are read.
type Options struct {
	// CacheDir keeps indexes and images. When it is empty they are kept in a temporary directory until Close.
	CacheDir string
	// Enforce checks everything in CacheDir before it is believed.
	Enforce bool
	// Images says how registries are reached.
	Images image.Config
	// PollDirs and PollImages are how often directories and images are checked for changes; 0 means never.
	PollDirs, PollImages time.Duration
}

// Origins makes catalogs of directories and images.
type Origins struct {
	options Options
	cache   *catalogstore.Cache
	dir     string
	temp    string // the same, if it is to be removed

	mu     sync.Mutex
	used   map[string]string // digest of the content in use, by the name of its source
	images *image.Store      // nil until an image is asked for
}

// Open opens the cache.
func Open(o Options) (*Origins, error) {
	origins := &Origins{options: o, used: map[string]string{}}
	dir := o.CacheDir
	if dir == "" {
		temp, err := os.MkdirTemp("", "fairlead-catalogs-")
		if err != nil {
			return nil, fmt.Errorf("make a temporary directory for the indexes of catalogs: %w", err)
		}
		origins.temp, dir = temp, temp
	}
	var err error
	if origins.cache, err = catalogstore.OpenCache(dir); err != nil {
		return nil, errors.Join(err, origins.Close())
	}
	origins.cache.Enforce, origins.dir = o.Enforce, dir
	return origins, nil
}

// Close removes what is temporary. Indexes that are open stay readable.
func (o *Origins) Close() error {
	if o.temp == "" {
		return nil
	}
	return os.RemoveAll(o.temp)
}

// Catalogs are the catalogs that arguments of a command line mean, each SOURCE or NAME=SOURCE. Their names are all different.
func (o *Origins) Catalogs(args []string) ([]Catalog, error) {
	var catalogs []Catalog
	names := map[string]string{}
	for _, arg := range args {
		name, source, named := strings.Cut(arg, "=")
		if _, err := os.Stat(arg); !named || err == nil { // a directory that exists under the whole argument is meant by it
			name, source = "", arg
		}
		if name == "" {
			// It is the last element of the source, without tag and digest.
			if isReference(source) {
				repository, _, _ := strings.Cut(source, "@")
				name, _, _ = strings.Cut(path.Base(repository), ":")
			} else if absolute, err := filepath.Abs(source); err == nil {
				name = filepath.Base(absolute)
			}
			if len(args) == 1 && !ValidName(name) {
				name = onlyName
			}
		}
		c, err := o.Catalog(name, source)
		if err != nil {
			return nil, err
		}
		if other, ok := names[c.Name]; ok {
			return nil, fmt.Errorf("serve catalog %s: %s has the name %q too; write NAME=%s", source, other, c.Name, source)
		}
		names[c.Name] = source
		catalogs = append(catalogs, c)
	}
	return catalogs, nil
}

// onlyName is the name of a catalog that is the only one and has no other.
const onlyName = "catalog"

// Catalog is the catalog of a directory or of the reference of an image.
func (o *Origins) Catalog(name, source string) (Catalog, error) {
	c := Catalog{Name: name}
	if !ValidName(name) {
		return c, fmt.Errorf("serve catalog %s: %q cannot be its name; write NAME=%s with a name of small letters, digits, dashes and dots", source, name, source)
	}
	info, err := os.Stat(source)
	switch {
	case err == nil && info.IsDir():
		c.Origin, c.Poll = directory{source, o}, o.options.PollDirs
	case err == nil:
		return c, fmt.Errorf("serve catalog %s: it is not a directory; name the directory that holds the catalog's files", source)
	case isReference(source):
		c.Origin, c.Poll = remote{source, o}, o.options.PollImages
	default:
		return c, fmt.Errorf("serve catalog %s: there is no such directory, and the reference of an image begins with the host of its registry: %w", source, err)
	}
	return c, nil
}

// isReference tells whether a text can be the reference of an image, with the host of its registry.
func isReference(source string) bool {
	host, _, ok := strings.Cut(source, "/")
	return ok && host != "." && host != ".." && (strings.ContainsAny(host, ".:") || host == "localhost")
}
