package signature

import (
	"slices"
	"sync"
	"time"

	"fairlead.dev/fairlead/internal/content/image"
)

// maxCached bounds the results that are remembered.
const maxCached = 4096

// cache remembers why images may be used. A result holds for one content of the
// policies, one request and one digest. Only successes are kept: what is missing
// today may be signed tomorrow. What depends on the time ends with its
// certificate.
type cache struct {
	mu      sync.Mutex
	results map[string]*found
	order   []string // the oldest first
}

// found is a result, which callers get copies of.
type found struct{ image.Verification }

func (f *found) clone() *image.Verification {
	c := f.Verification
	c.Rules, c.Signers = slices.Clone(c.Rules), slices.Clone(c.Signers)
	if c.Catalog != nil {
		origin := *c.Catalog
		c.Catalog = &origin
	}
	return &c
}

func (c *cache) get(key string, now time.Time) *image.Verification {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.results[key]
	if f == nil || !f.Expires.IsZero() && !now.Before(f.Expires) {
		return nil
	}
	return f.clone()
}

func (c *cache) put(key string, f *found) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.results == nil {
		c.results = map[string]*found{}
	}
	if _, ok := c.results[key]; !ok {
		if len(c.order) == maxCached {
			delete(c.results, c.order[0])
			c.order = c.order[1:]
		}
		c.order = append(c.order, key)
	}
	c.results[key] = f
}
