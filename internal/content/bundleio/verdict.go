package bundleio

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/content/image"
)

// Verdict says whether an image that a catalog names can be pulled or, where it was read, is a bundle.
type Verdict struct {
	Image string `json:"image"`
	// Bundles are the bundles that name it, as package/bundle, sorted.
	Bundles []string `json:"bundles"`
	Exists  bool     `json:"exists"`
	// Kind and Reason say why it cannot be had.
	Kind   image.Kind `json:"kind,omitempty"`
	Reason string     `json:"reason,omitempty"`
}

// String is the verdict in one line.
func (v Verdict) String() string {
	if v.Exists {
		return v.Image + ": exists"
	}
	return fmt.Sprintf("%s: %s (named by %s)", v.Image, v.Reason, safetext.List(v.Bundles, 1, ", "))
}

const (
	parallelChecks = 16 // registries that are asked at once
	parallelReads  = 4  // bundles that are read at once
)

// CheckImages proves that the images exist that a catalog names, those of bundles and those that the bundles need. Each is asked for
// once, without its content being read. The verdicts are in the order of the images. seen, if it is not nil, is called as they come, one
// call after the other and each with one more than the last.
func (r *Renderer) CheckImages(ctx context.Context, c *catalog.Catalog, seen func(done, all int)) ([]Verdict, error) {
	store, err := r.OpenStore(ctx)
	if err != nil {
		return nil, err
	}
	// The images of a catalog with the bundles that name them.
	users := map[string][]string{}
	for _, b := range c.Bundles {
		name := b.Package + "/" + b.Name
		images := []string{b.Image}
		for _, related := range b.RelatedImages {
			images = append(images, related.Image)
		}
		for _, ref := range images {
			if list := users[ref]; ref != "" && !slices.Contains(list, name) {
				users[ref] = append(list, name)
			}
		}
	}
	for _, list := range users {
		slices.Sort(list)
	}
	verdicts := make([]Verdict, 0, len(users))
	for _, ref := range slices.Sorted(maps.Keys(users)) {
		verdicts = append(verdicts, Verdict{Image: ref, Bundles: users[ref]})
	}
	err = judgeAll(ctx, verdicts, parallelChecks, seen, func(ctx context.Context, v *Verdict) error { return store.Exists(ctx, v.Image, r.Auth) })
	if err != nil {
		return nil, fmt.Errorf("check the images of the catalog: %w", err)
	}
	return verdicts, nil
}

// CheckBundles reads the images of bundles that a catalog names, each once. The verdicts are in the order of the images; for each that can be read,
// names has the name of its ClusterServiceVersion. seen is as for CheckImages.
func (r *Renderer) CheckBundles(ctx context.Context, c *catalog.Catalog, seen func(done, all int)) (verdicts []Verdict, names map[string]string, err error) {
	store, err := r.OpenStore(ctx)
	if err != nil {
		return nil, nil, err
	}
	only := &Renderer{Store: store, Auth: r.Auth, Allowed: BundleImage}
	users := map[string][]string{}
	for _, b := range c.Bundles {
		if b.Image != "" {
			users[b.Image] = append(users[b.Image], b.Package+"/"+b.Name)
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(users)) {
		slices.Sort(users[ref])
		verdicts = append(verdicts, Verdict{Image: ref, Bundles: slices.Compact(users[ref])})
	}
	var mu sync.Mutex
	names = map[string]string{}
	err = judgeAll(ctx, verdicts, parallelReads, seen, func(ctx context.Context, v *Verdict) error {
		found, err := only.image(ctx, v.Image)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		names[v.Image] = found.bundle.Name
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read the bundles of the catalog: %w", err)
	}
	return verdicts, names, nil
}

// judgeAll completes verdicts by what try says of each image, many at once.
func judgeAll(ctx context.Context, verdicts []Verdict, workers int, seen func(done, all int), try func(ctx context.Context, v *Verdict) error) error {
	var mu sync.Mutex
	done := 0
	group := errgroup.Group{}
	group.SetLimit(workers)
	for i := range verdicts {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			v := &verdicts[i]
			err := try(ctx, v)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			v.Exists = err == nil
			if err != nil {
				v.Kind, v.Reason = image.KindOf(err), err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; seen != nil {
				seen(done, len(verdicts))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil || done == len(verdicts) {
		return err
	}
	return context.Cause(ctx)
}
