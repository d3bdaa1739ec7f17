package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/unpack"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DefaultStoreBytes is how large the content store may grow before what was used least recently goes.
const DefaultStoreBytes = 4 << 30

// collectEvery is the time between two looks at the size of the content store.
const collectEvery = 10 * time.Minute

// unusedIndexAge is how long the index of a catalog that is served no more is kept: a catalog that is put back is served at once.
const unusedIndexAge = 24 * time.Hour

// collector keeps the content store within its size, and the indexes to those in use. It is a manager.Runnable.
type collector struct {
	stores
	reader   client.Reader
	maxBytes int64
	log      logr.Logger
}

// Start collects until the context ends.
func (c collector) Start(ctx context.Context) error {
	ticker := time.NewTicker(collectEvery)
	defer ticker.Stop()
	for {
		if err := c.collect(ctx); err != nil && ctx.Err() == nil {
			c.log.Error(err, "the content store may outgrow its size and old indexes may stay; it is looked at again later")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// collect removes what was used least recently, but nothing that a plan still needs.
func (c collector) collect(ctx context.Context) error {
	var plans v1alpha1.InstallPlanList
	if err := c.reader.List(ctx, &plans); err != nil {
		return fmt.Errorf("list the InstallPlans whose manifests are to be kept: %w", err)
	}
	needed := map[string]bool{}
	for i := range plans.Items {
		status := &plans.Items[i].Status
		if status.Phase == v1alpha1.InstallPlanPhaseComplete {
			continue
		}
		for _, step := range status.Plan {
			if step == nil {
				continue
			}
			if ref, ok := unpack.ParseReference(step.Resource.Manifest); ok {
				needed[ref.Digest] = true
			}
		}
	}
	_, contents := c.contents.GC(ctx, func(digest string) bool { return needed[digest] }, c.maxBytes)
	_, indexes := c.indexes.GC(ctx, unusedIndexAge, c.catalogs.Digests()...)
	return errors.Join(contents, indexes)
}
