package catalogserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"fairlead.dev/fairlead/catalog"
)

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

// readable refuses a catalog of which a part could not be read, as nobody can tell what is missing, and one without any object: it is
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
