package catalogserver

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
)

// Served is a catalog as it is served now.
type Served struct {
	Index *catalog.Index
	// Modified is when this content took the place of another. Two contents of one catalog differ in it by a second at least.
	Modified time.Time
}

// Source is where requests find catalogs. It is asked once a request.
type Source interface {
	// Catalog finds a catalog by its name. The empty name finds the only one.
	Catalog(name string) (Served, bool)
}

// Set is a Source that catalogs are published in. Its zero value is empty and ready; it is safe for concurrent use.
type Set struct {
	// Now tells the time; nil means time.Now.
	Now func() time.Time

	mu       sync.RWMutex
	catalogs map[string]Served
}

// Publish serves an index under a name from now on. It tells whether the content is another than before.
func (s *Set) Publish(name string, index *catalog.Index) bool {
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	return s.PublishAt(name, index, now())
}

// PublishAt is Publish of content that is said to be from a certain time, by servers that all say the same.
func (s *Set) PublishAt(name string, index *catalog.Index, from time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.catalogs[name]
	modified := from.Truncate(time.Second)
	if ok {
		if old.Index.Digest() == index.Digest() {
			return false
		}
		// HTTP knows whole seconds: without this, a client could take the old content for the new one.
		if earliest := old.Modified.Add(time.Second); modified.Before(earliest) {
			modified = earliest
		}
	}
	if s.catalogs == nil {
		s.catalogs = map[string]Served{}
	}
	s.catalogs[name] = Served{Index: index, Modified: modified}
	return true
}

// Withdraw serves a catalog no more.
func (s *Set) Withdraw(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.catalogs, name)
}

// Catalog finds a catalog by its name, or the only one by the empty name.
func (s *Set) Catalog(name string) (Served, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if name == "" && len(s.catalogs) == 1 {
		for _, only := range s.catalogs {
			return only, true
		}
	}
	served, ok := s.catalogs[name]
	return served, ok
}

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

// remote is a catalog in an image.
type remote struct {
	ref string
	*Origins
}

// String is the reference.
func (r remote) String() string { return "image " + r.ref }

// reader opens the store of images when it is needed: who serves directories from a cache that belongs to another owner cannot make one.
func (r remote) reader() (catalogstore.ImageReader, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	if r.images == nil {
		r.images, err = image.Open(filepath.Join(r.dir, "images"), r.options.Images)
	}
	return catalogstore.ImageReader{Images: r.images, Indexes: r.cache}, err
}

// State is the digest that the registry has for the reference.
func (r remote) State(ctx context.Context) (string, error) {
	reader, err := r.reader()
	if err != nil {
		return "", err
	}
	return reader.Digest(ctx, r.ref, image.Auth{})
}

// Read pulls the image, as far as the store lacks it, and opens or builds the index.
func (r remote) Read(ctx context.Context) (*catalog.Index, error) {
	reader, err := r.reader()
	if err != nil {
		return nil, err
	}
	x, err := reader.Open(ctx, r.ref, image.Auth{})
	if err != nil {
		return nil, err
	}
	return r.accept(ctx, r.String(), x)
}

// accept refuses an index that should not be served, and drops from the cache what the accepted one takes the place of.
func (o *Origins) accept(ctx context.Context, source string, x *catalog.Index) (*catalog.Index, error) {
	if err := readable(x); err != nil {
		_ = x.Close() // nothing was read from it
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.used[source] = x.Digest()
	// Remove contents from the cache that are not in use: those of others, who may share a cache that is not temporary, later.
	unused, images := keepUnused, int64(keepImages)
	if o.temp != "" {
		unused, images = 0, 0
	}
	used := slices.Collect(maps.Values(o.used))
	if _, err := o.cache.GC(ctx, unused, used...); err != nil || o.images == nil {
		return x, err
	}
	_, err := o.images.GC(ctx, func(digest string) bool { return slices.Contains(used, digest) }, images)
	return x, err
}

// loadRules are those that are broken by what could not be read.
var loadRules = map[catalog.Rule]bool{
	catalog.RuleFileUnreadable: true, catalog.RuleLimit: true, catalog.RuleSyntax: true, catalog.RuleNotAnObject: true,
	catalog.RuleSchemaMissing: true, catalog.RuleDuplicateKey: true, catalog.RuleFieldType: true,
}

// readable refuses a catalog of which a part could not be read, as no one can tell what is missing, and one without any object: it is
// more likely that the wrong directory was named.
func readable(x *catalog.Index) error {
	var lost catalog.Problems
	for _, p := range x.Problems().Errors() {
		if loadRules[p.Rule] {
			lost = append(lost, p)
		}
	}
	if err := lost.Err(); err != nil {
		return err
	}
	for _, err := range x.Objects(catalog.ObjectFilter{}) {
		return err // the first tells that there are any
	}
	return errNoObject
}

// errNoObject refuses what holds no catalog.
var errNoObject = errors.New("there is no object of a catalog in it; name the directory or image that holds the catalog")

// What a cache that outlives the process keeps of what is not in use.
const (
	keepUnused = 7 * 24 * time.Hour
	keepImages = 4 << 30 // bytes
)
