package catalogstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"runtime/debug"
	"sync"

	"fairlead.dev/fairlead/catalog"
)

// What one catalog may take while its index is built, of all that the process
// has. Large catalogs are built one after the other, so that the memory of two
// is never needed at once; small ones do not wait for them.
const (
	largeBytes  = 16 << 20 // of files, from which on a catalog is large
	maxWorkers  = 2        // threads that decode one catalog, however many processors there are
	maxRefusals = 1024     // contents that are known to exceed a limit
)

// lanes have room for those who build an index.
type lanes struct{ small, large chan struct{} }

// enter waits for the turn of a catalog with files of so many bytes, and
// returns what ends it.
func (l lanes) enter(ctx context.Context, bytes int64) (leave func(), err error) {
	lane := l.small
	if bytes >= largeBytes {
		lane = l.large
	}
	select {
	case lane <- struct{}{}:
		return func() { <-lane }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// options are how catalogs are read.
func (c *Cache) options() catalog.LoadOptions {
	return catalog.LoadOptions{Limits: c.Limits, Workers: min(maxWorkers, runtime.GOMAXPROCS(0))}
}

// weigh adds up the files of a catalog. One that is over the limit is refused
// before any of it is read.
func (c *Cache) weigh(ctx context.Context, fsys fs.FS) (int64, error) {
	files, _, err := catalog.Files(ctx, fsys)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, name := range files {
		info, err := fs.Stat(fsys, name)
		if err != nil {
			continue // reading it reports why
		}
		total += info.Size()
	}
	if most := c.Limits.TotalBytes; most > 0 && total > most {
		return total, &catalog.LimitError{Limit: "TotalBytes", Value: most, Reason: fmt.Sprintf("the files of the catalog have %d bytes, more than the limit", total)}
	}
	return total, nil
}

// refusals remembers which contents exceed a limit, so that they are not read
// each time that someone asks for them.
type refusals struct {
	mu   sync.Mutex
	errs map[string]error // by the path that the index would have
}

func (r *refusals) of(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errs[path]
}

// note remembers err if the content is the cause, and it stays so.
func (r *refusals) note(path string, err error) {
	var exceeded *catalog.LimitError
	if !errors.As(err, &exceeded) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.errs == nil || len(r.errs) == maxRefusals {
		r.errs = map[string]error{}
	}
	r.errs[path] = err
}

// Advise adds to the error of a limit how it is raised here.
func (c *Cache) Advise(err error) error {
	var exceeded *catalog.LimitError
	if !errors.As(err, &exceeded) || c.Flags[exceeded.Limit] == "" {
		return err
	}
	return fmt.Errorf("%w; make the catalog smaller, or raise %s", err, c.Flags[exceeded.Limit])
}

// thriftyPercent is by how much the heap may grow between two collections while a catalog is read. The default, 100, lets it become twice of
// all that the process holds; reading a catalog produces garbage all the time, so it does. This costs a sixth of processor time more, and
// only then.
const thriftyPercent = 25

var thrift struct {
	mu      sync.Mutex
	readers int
	before  int
}

// thrifty makes the garbage collector run more often until the function that it returns is called.
func thrifty() (end func()) {
	thrift.mu.Lock()
	defer thrift.mu.Unlock()
	if thrift.readers == 0 {
		thrift.before = debug.SetGCPercent(thriftyPercent)
		if thrift.before >= 0 && thrift.before < thriftyPercent { // a user wants it to be thriftier still
			debug.SetGCPercent(thrift.before)
		}
	}
	thrift.readers++
	return sync.OnceFunc(func() {
		thrift.mu.Lock()
		defer thrift.mu.Unlock()
		if thrift.readers--; thrift.readers == 0 {
			debug.SetGCPercent(thrift.before)
		}
	})
}
