package manager

import (
	"context"
	"errors"
	"fmt"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/controller/catalogsource"
	"fairlead.dev/fairlead/internal/resolution/snapshot"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DefaultStoreBytes is how large the content store may grow before what was used least recently goes.
const DefaultStoreBytes = 4 << 30

// collectEvery is the time between two checks of the size of the content store.
const collectEvery = 10 * time.Minute

// unusedIndexAge is how long the index of a catalog that is served no more is kept: a catalog that is put back is served at once.
const unusedIndexAge = 24 * time.Hour

// collector keeps the content store within its size, and the indexes to those in use. It is a manager.Runnable.
type collector struct {
	stores
	records string // the directory of notes about which content catalogs served last
	reader  client.Reader
	// clusterWide is whether ClusterCatalogs are looked after.
	clusterWide bool
	maxBytes    int64
	log         logr.Logger
}

// Start collects until the context ends.
func (c collector) Start(ctx context.Context) error {
	ticker := time.NewTicker(collectEvery)
	defer ticker.Stop()
	for {
		if err := c.collect(ctx); err != nil && ctx.Err() == nil {
			c.log.Error(err, "the content store may outgrow its size and old indexes may stay; retried later")
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
			if ref, ok := bundleio.ParseReference(step.Resource.Manifest); ok {
				needed[ref.Digest] = true
			}
		}
	}
	_, contents := c.contents.GC(ctx, func(digest string) bool { return needed[digest] }, c.maxBytes)
	return errors.Join(contents, c.collectIndexes(ctx))
}

// collectIndexes removes the indexes that are neither served nor about to be: after a start catalogs are recalled one by one, and what they
// served last may not be to be had from anywhere else.
func (c collector) collectIndexes(ctx context.Context) error {
	var all v1alpha1.CatalogSourceList
	if err := c.reader.List(ctx, &all); err != nil {
		return fmt.Errorf("list the CatalogSources whose indexes are to be kept: %w", err)
	}
	exist := map[catalog.Ref]bool{}
	for i := range all.Items {
		exist[catalog.Ref{Namespace: all.Items[i].Namespace, Name: all.Items[i].Name}] = true
	}
	recorded, err := catalogsource.Recorded(c.records, func(ref catalog.Ref) bool { return exist[ref] }, unusedIndexAge)
	if err != nil {
		return err
	}
	if c.clusterWide {
		// The digests of the contents that the statuses of ClusterCatalogs name: after a start they are served again, one by one.
		var all olmv1.ClusterCatalogList
		if err := c.reader.List(ctx, &all); err != nil {
			return fmt.Errorf("list the ClusterCatalogs whose indexes are to be kept: %w", err)
		}
		var named []string
		for i := range all.Items {
			if digest := snapshot.CatalogDigest(&all.Items[i]); digest != "" {
				named = append(named, digest)
			}
		}
		recorded = append(recorded, named...)
	}
	_, err = c.indexes.GC(ctx, unusedIndexAge, append(recorded, c.digests()...)...)
	return err
}
