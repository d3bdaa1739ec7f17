package clusterserviceversion

import "context"

// tryAdopt writes the finalizer, labels and annotations of a CSV. That the cluster refuses them is a fact for the table, so
// that the status tells it; the pass is repeated with back-off, as no event tells when they would be accepted.
func (f *facts) tryAdopt(ctx context.Context) error {
	err := f.adopt(ctx)
	if err == nil || !isRefusal(err) {
		return err
	}
	f.unmarked, f.retry = err, err
	return nil
}

func (f *facts) adoptRefused(context.Context) (finding, error) {
	if f.unmarked == nil {
		return seenNot, nil
	}
	return seen(f.unmarked.Error()), nil
}
