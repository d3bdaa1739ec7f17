package ops

import "golang.org/x/sync/errgroup"

// atOnce is how many requests to the API server are under way at once for one answer: it shares its time among users by requests in flight.
const atOnce = 8

// together does n things at once, as far as atOnce lets it, and waits for all of them. The error is that of the first in order, whichever ends first: what is
// told does not depend on which request was quicker.
func together(n int, do func(i int) error) error {
	failed := make([]error, n)
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			failed[i] = do(i)
			return nil
		})
	}
	_ = group.Wait() // each has its own error
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}
