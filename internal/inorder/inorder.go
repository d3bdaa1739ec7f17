// Package inorder does the same for many things at once and reports as if it had been done for one after the other. It knows
// nothing of what is done. Start reading at Each.
package inorder

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each calls do with 0 to n-1, at most workers at once, in that order of starting. After a failure nothing more is started. The error
// is that of the lowest number that failed, so that it does not depend on who was faster.
func Each(ctx context.Context, n, workers int, do func(ctx context.Context, i int) error) error {
	failures := make([]error, n)
	var next, failed, done atomic.Int64
	var group sync.WaitGroup
	for range min(n, max(workers, 1)) {
		group.Go(func() {
			// A number that is taken is done: so whatever is below one that failed has been tried.
			for failed.Load() == 0 && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if failures[i] = do(ctx, i); failures[i] != nil {
					failed.Add(1)
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	if int(done.Load()) < n {
		return context.Cause(ctx)
	}
	return nil
}
