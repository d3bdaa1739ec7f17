package render

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/image"
	"fairlead.dev/fairlead/internal/inorder"
)

// Verdict says whether an image that a catalog names can be had.
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
	users := v.Bundles[0]
	if len(v.Bundles) > 1 {
		users = fmt.Sprintf("%s and %d more", users, len(v.Bundles)-1)
	}
	return fmt.Sprintf("%s: %s (named by %s)", v.Image, v.Reason, users)
}

// parallelChecks is how many registries are asked at once.
const parallelChecks = 16

// CheckImages proves that the images exist that a catalog names, those of bundles and those that the bundles need. Each is asked for
// once, without its content being read. The verdicts are in the order of the images. seen, if it is not nil, is called as they come, one
// call after the other and each with one more than the last.
func (r *Renderer) CheckImages(ctx context.Context, c *catalog.Catalog, seen func(done, all int)) ([]Verdict, error) {
	store, err := r.images(ctx)
	if err != nil {
		return nil, err
	}
	users := imagesOf(c)
	verdicts := make([]Verdict, 0, len(users))
	for _, ref := range slices.Sorted(maps.Keys(users)) {
		verdicts = append(verdicts, Verdict{Image: ref, Bundles: users[ref]})
	}
	var mu sync.Mutex
	done := 0
	err = inorder.Each(ctx, len(verdicts), parallelChecks, func(ctx context.Context, i int) error {
		v := &verdicts[i]
		err := store.Exists(ctx, v.Image, r.Auth)
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
	if err != nil {
		return nil, fmt.Errorf("check the images of the catalog: %w", err)
	}
	return verdicts, nil
}

// imagesOf are the images of a catalog with the bundles that name them.
func imagesOf(c *catalog.Catalog) map[string][]string {
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
	return users
}
