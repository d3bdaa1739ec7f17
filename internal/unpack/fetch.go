package unpack

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/image"
)

func (u *Unpacker) fetch(ctx context.Context, r Request, w *progress) (*bundle.Bundle, string, error) {
	if r.Image == "" {
		return fromManifests(r)
	}
	img, err := u.store.Pull(ctx, r.Image, image.PullOptions{Auth: r.Auth, Select: image.SelectBundle, Progress: w.note, Limits: image.Limits{Duration: u.limit(r)}})
	if err != nil {
		return nil, "", fmt.Errorf("fetch bundle %s: %w", r.what(), err)
	}
	defer img.Close()
	b, err := bundle.Load(img.FS())
	if err != nil {
		return nil, "", fmt.Errorf("read bundle %s from image %s: %w", r.what(), r.Image, err)
	}
	return b, img.Pinned, sameName(b, r)
}

func fromManifests(r Request) (*bundle.Bundle, string, error) {
	manifests, err := r.Manifests()
	if err != nil {
		return nil, "", fmt.Errorf("read the manifests of bundle %s from its catalog: %w", r.Name, err)
	}
	b, err := bundle.FromManifests(manifests)
	if err != nil {
		return nil, "", fmt.Errorf("read the manifests of bundle %s from its catalog: %w", r.Name, err)
	}
	return b, "", sameName(b, r)
}

// sameName guards against an image whose content is not what the catalog says it is, where one says so.
func sameName(b *bundle.Bundle, r Request) error {
	if r.Name == "" || b.Name == r.Name {
		return nil
	}
	return fmt.Errorf("the catalog says that image %q is bundle %s, but it holds ClusterServiceVersion %s: the catalog must name the image of %s",
		r.Image, r.Name, b.Name, r.Name)
}
