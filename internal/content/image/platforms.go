package image

import (
	"context"

	"go.podman.io/image/v5/docker/reference"
)

// Platform is what an image, or one of several under a name, runs on.
type Platform struct {
	OS, Architecture string
}

// Platforms asks the registry for which platforms an image is offered: those of
// its index, or the one in the configuration of a single image. No layer is
// read.
func (s *Store) Platforms(ctx context.Context, ref string, auth Auth) ([]Platform, error) {
	return limited(ctx, "inspect", ref, Limits{}, func(ctx context.Context, named reference.Named, limits Limits) ([]Platform, error) {
		found, err := s.resolve(ctx, named, auth, limits)
		if err != nil {
			return nil, err
		}
		pinned, err := pin(named, found.digest)
		if err != nil {
			return nil, err
		}
		endpoints, err := s.config.endpoints(pinned, auth)
		if err != nil {
			return nil, err
		}
		return patiently(ctx, s.config.Retries, func() ([]Platform, error) {
			return first(ctx, endpoints, func(e endpoint) ([]Platform, error) { return platformsAt(ctx, e, pinned, limits) })
		})
	})
}

func platformsAt(ctx context.Context, e endpoint, pinned reference.Canonical, limits Limits) ([]Platform, error) {
	w := newWatch(ctx, limits.Stall)
	defer w.stop()
	src, err := openSource(w, e, pinned.Digest())
	if err != nil {
		return nil, err
	}
	defer src.from.Close()
	data, err := src.document(nil, src.want)
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	if d.Manifests == nil {
		p, err := readConfig[platform](src, *d.Config, limits.ConfigBytes)
		return []Platform{{OS: p.OS, Architecture: p.Architecture}}, err
	}
	platforms := []Platform{}
	for _, each := range d.Manifests {
		if each.Platform != nil {
			platforms = append(platforms, Platform{OS: each.Platform.OS, Architecture: each.Platform.Architecture})
		}
	}
	return platforms, nil
}
