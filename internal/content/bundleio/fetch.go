package bundleio

import (
	"context"
	"fmt"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/image"
)

// fetch returns the state of a bundle that is there.
func (u *Unpacker) fetch(ctx context.Context, r Request, w *progress) (State, error) {
	switch {
	case r.Judge:
		// Decide whether a bundle may be used
		if r.Image == "" {
			v, err := u.verifyCatalog(ctx, r)
			return State{Judged: err == nil, Verification: v}, err
		}
		if u.store == nil {
			return State{Judged: true}, nil
		}
		v, err := u.store.Verify(ctx, r.Image, image.VerifyOptions{Auth: r.Auth, NamedBy: r.NamedBy, Requested: r.Requested, Outright: true, Limits: image.Limits{Duration: u.limit(r)}})
		return State{Judged: err == nil, Verification: v}, err
	case r.Image == "":
		v, err := u.verifyCatalog(ctx, r)
		if err != nil {
			return State{}, err
		}
		manifests, err := r.Manifests()
		var b *bundle.Bundle
		if err == nil {
			b, err = bundle.FromManifests(manifests)
		}
		if err != nil {
			return State{Verification: v}, fmt.Errorf("read the manifests of bundle %s from its catalog: %w", r.Name, err)
		}
		return State{Bundle: b, Verification: v}, sameName(b, r)
	}
	img, err := u.store.Pull(ctx, r.Image, image.PullOptions{Auth: r.Auth, Select: image.SelectBundle, Progress: w.note, NamedBy: r.NamedBy, Requested: r.Requested,
		Limits: image.Limits{Duration: u.limit(r)}})
	if err != nil {
		return State{}, fmt.Errorf("fetch bundle %s: %w", r.what(), err)
	}
	defer img.Close()
	b, err := bundle.Load(img.FS())
	if err != nil {
		return State{}, fmt.Errorf("read bundle %s from image %s: %w", r.what(), r.Image, err)
	}
	b.Image = img.Pinned
	return State{Bundle: b, Pinned: img.Pinned, Verification: img.Verification}, sameName(b, r)
}

// verifyCatalog decides on a bundle that its catalog holds by the signature of that. Where it is no image there is nothing to verify.
func (u *Unpacker) verifyCatalog(ctx context.Context, r Request) (*image.Verification, error) {
	if r.NamedBy == nil || u.store == nil {
		return nil, nil
	}
	v, err := u.store.Verify(ctx, r.NamedBy.Ref, image.VerifyOptions{Auth: r.Auth, Digest: r.NamedBy.Digest, Limits: image.Limits{Duration: u.limit(r)}})
	if err != nil {
		return nil, fmt.Errorf("use bundle %s, which its catalog holds: %w", r.what(), err)
	}
	if v != nil && v.Outcome == image.Signed {
		v.Outcome, v.Catalog = image.Covered, r.NamedBy
	}
	return v, nil
}

// sameName guards against an image whose content is not what the catalog says it is, where the request goes by the name of that.
func sameName(b *bundle.Bundle, r Request) error {
	if r.Name == "" || r.ByCatalog || b.Name == r.Name {
		return nil
	}
	return fmt.Errorf("the catalog says that image %q is bundle %s, but it holds ClusterServiceVersion %s: the catalog must name the image of %s",
		r.Image, r.Name, b.Name, r.Name)
}
