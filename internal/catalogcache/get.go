package catalogcache

import (
	"context"

	"fairlead.dev/fairlead/catalog"
)

// Get is the index of a content that was indexed before, and false when it is not there any more. The caller may close it.
func (c *Cache) Get(ctx context.Context, digest string) (*catalog.Index, bool) {
	x := c.open(ctx, c.path(digest, indexSuffix))
	return x, x != nil
}
